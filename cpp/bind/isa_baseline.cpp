// The kernels for any processor that the compiler targets by default.
#define TALLY_ISA baseline
#include "bind/kernels.hpp"

namespace tally {
const Kernels* kernels_baseline() { return baseline::table("baseline"); }
}  // namespace tally
