// What stands in front of a reader's kernel when `reduct ladder --mine` compiles it; ladder/mine/judge.cuh stands behind it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

enum task { SUM, MAXIMUM, ROWS };
