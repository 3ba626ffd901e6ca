// The kernels for x86-64 processors with AVX2, FMA and BMI2 ("x86-64-v3"); a null pointer on other processors.
#define TALLY_ISA v3
#include "bind/interface.hpp"

#if defined(__AVX2__)
#include "bind/kernels.hpp"

namespace tally {
const Kernels* kernels_v3() { return v3::table("v3"); }
}  // namespace tally
#else
namespace tally {
const Kernels* kernels_v3() { return nullptr; }
}  // namespace tally
#endif
