/* Files that hold numbers in a way that is not read here: known by their first bytes, so that a message can say what they
 * are. Taken for raw binary they would give a result that means nothing. */
#include "signature.h"

#include <string.h>

#define BEGINS(text) (const unsigned char *)(text), sizeof(text) - 1

static const struct signature {
    const unsigned char *bytes;
    size_t size;
    const char *what, *advice;
} SIGNATURES[] = {
    {BEGINS("\x1f\x8b\x08"), "compressed by gzip", "decompress it, as in gzip -dc FILE | reduct sum"},
    {BEGINS("\xfd"
            "7zXZ\0"),
     "compressed by xz", "decompress it, as in xz -dc FILE | reduct sum"},
    {BEGINS("\x28\xb5\x2f\xfd"), "compressed by zstd", "decompress it, as in zstd -dc FILE | reduct sum"},
    {BEGINS("BZh"), "compressed by bzip2", "decompress it, as in bzip2 -dc FILE | reduct sum"},
    {BEGINS("\x04\x22\x4d\x18"), "compressed by lz4", "decompress it, as in lz4 -dc FILE | reduct sum"},
    {BEGINS("PK\3\4"), "a zip archive, as NumPy's .npz files are",
     "unpack it, as in unzip FILE, and give what it holds"},
    {BEGINS("PK\5\6"), "an empty zip archive", "give a file of numbers"},
    {BEGINS("7z\xbc\xaf\x27\x1c"), "a 7z archive", "unpack it, as in 7z x FILE, and give what it holds"},
    {BEGINS("PAR1"), "a Parquet file", "save a column of it with numpy.save()"},
    {BEGINS("ARROW1"), "an Arrow file, as Feather files are", "save a column of it with numpy.save()"},
    {BEGINS("FEA1"), "a Feather file", "save a column of it with numpy.save()"},
    {BEGINS("ORC"), "an ORC file", "save a column of it with numpy.save()"},
    {BEGINS("Obj\1"), "an Avro file", "save a column of it with numpy.save()"},
    {BEGINS("\x89HDF\r\n\x1a\n"), "an HDF5 file", "dump a data set of it, as in h5dump -d NAME -b LE -o FILE.bin FILE"},
    {BEGINS("CDF\1"), "a NetCDF file", "save a variable of it with numpy.save()"},
    {BEGINS("CDF\2"), "a NetCDF file", "save a variable of it with numpy.save()"},
    {BEGINS("CDF\5"), "a NetCDF file", "save a variable of it with numpy.save()"},
    {BEGINS("MATLAB 5.0 MAT-file"), "a MATLAB file", "save a variable of it with numpy.save()"},
    {BEGINS("SIMPLE  ="), "a FITS file", "save an image of it with numpy.save()"},
    {BEGINS("SQLite format 3\0"), "an SQLite database", "pipe a column of it, as in sqlite3 FILE 'select x from t'"},
    {BEGINS("\x80\4\x95"), "a Python pickle", "save its arrays with numpy.save()"},
    {BEGINS("\x80\5\x95"), "a Python pickle", "save its arrays with numpy.save()"},
    {BEGINS("\x89PNG\r\n\x1a\n"), "a PNG image", "save its pixels with numpy.save()"},
    {BEGINS("\xff\xd8\xff"), "a JPEG image", "save its pixels with numpy.save()"},
    {BEGINS("GIF8"), "a GIF image", "save its pixels with numpy.save()"},
    {BEGINS("II*\0"), "a TIFF image", "save its pixels with numpy.save()"},
    {BEGINS("MM\0*"), "a TIFF image", "save its pixels with numpy.save()"},
    {BEGINS("\x76\x2f\x31\x01"), "an OpenEXR image", "save its pixels with numpy.save()"},
    {BEGINS("%PDF-"), "a PDF document", "give a file of numbers"},
    {BEGINS("\x7f"
            "ELF"),
     "a program or library", "give a file of numbers"},
};

/* The signature of which the source's bytes are a beginning; `*whole` if they hold all of it. */
static const struct signature *find(const struct source *source, bool *whole) {
    for (size_t i = 0; i < sizeof SIGNATURES / sizeof *SIGNATURES; i++) {
        const struct signature *signature = &SIGNATURES[i];
        *whole = source->available >= signature->size;
        if (source->available > 0 &&
            memcmp(source->data, signature->bytes, *whole ? signature->size : source->available) == 0)
            return signature;
    }
    return NULL;
}

enum outcome signature_refuse(struct source *source, bool type_said) {
    const struct signature *signature;
    bool whole = false;
    enum outcome outcome = source_peek(source, 1, 0);
    /* A byte more each time, as who types a number should not have to type the length of a signature. */
    while (outcome == DONE && (signature = find(source, &whole)) && !whole) {
        if (source->ended)
            return DONE;
        outcome = source_peek(source, source->available + 1, 0);
    }
    if (outcome != DONE || !signature)
        return outcome;
    return fail("%s: this is %s, which is not read here; expected numbers as text, .npy or raw binary. First %s%s",
                source->name, signature->what, signature->advice,
                type_said ? " (raw binary that only begins like it: --format raw)" : "");
}
