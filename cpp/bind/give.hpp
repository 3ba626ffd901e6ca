// A kernel's own memory as a NumPy array, without a copy.
#pragma once

#include <type_traits>

#include "bind/buffers.hpp"
#include "text/memory.hpp"

namespace tally {

template <class T>
nb::object give(text::Growing<T>& values) {
    const auto size = static_cast<std::size_t>(values.size());
    T* data = values.release();
    const nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    using Out = std::conditional_t<std::is_same_v<T, char>, std::uint8_t, T>;
    return nb::cast(nb::ndarray<nb::numpy, Out>(reinterpret_cast<Out*>(data), 1, &size, owner));
}

}  // namespace tally
