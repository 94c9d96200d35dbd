/* Parts of a program that lie beside it as shared objects and that it does without where they are missing. */
#ifndef GPU_PLUGIN_H
#define GPU_PLUGIN_H

/* A function of the shared object `file` in the program's own folder, or null where there is none. The object is opened
 * once and kept, as the CUDA runtime in it does not support being unloaded. To be converted to the function's type with
 * memcpy(): ISO C has no conversion from object to function pointers, POSIX promises that the bytes are the same. */
void *gpu_plugin(const char *file, const char *symbol);

#endif
