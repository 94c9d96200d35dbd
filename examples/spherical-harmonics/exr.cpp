// OpenEXR files, through the C++ library: its C interface of version 3.1 does not read all compressions yet.
//
// Channels R, G, B, or Y alone, are read as floats; the data window is what counts as the image.
#include "image.h"

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfHeader.h>
#include <ImfInputFile.h>
#include <ImfIO.h>

#include <cstring>
#include <exception>
#include <stdexcept>

namespace {

// A file in memory.
class Bytes : public Imf::IStream {
  public:
    Bytes(const unsigned char *bytes, size_t size) : Imf::IStream("the file"), bytes_(bytes), size_(size) {
    }
    bool read(char *to, int count) override {
        if (count < 0 || static_cast<uint64_t>(count) > size_ - at_)
            throw std::runtime_error("it is cut short");
        std::memcpy(to, bytes_ + at_, static_cast<size_t>(count));
        at_ += static_cast<uint64_t>(count);
        return at_ < size_;
    }
    uint64_t tellg() override {
        return at_;
    }
    void seekg(uint64_t position) override {
        if (position > size_)
            throw std::runtime_error("it is cut short");
        at_ = position;
    }

  private:
    const unsigned char *bytes_;
    uint64_t size_, at_ = 0;
};

bool has(const Imf::ChannelList &channels, const char *name) {
    return channels.findChannel(name) != nullptr;
}

// Reads into `found`, which the caller frees if this throws.
bool decode(const unsigned char *bytes, size_t size, image *found, problem *why) {
    Bytes stream(bytes, size);
    Imf::InputFile file(stream, 1);
    const Imf::ChannelList &channels = file.header().channels();
    const bool colour = has(channels, "R") && has(channels, "G") && has(channels, "B");
    if (!colour && (!has(channels, "Y") || has(channels, "RY")))
        return refuse(why, "expected channels R, G, B, or Y alone");
    const Imath::Box2i window = file.header().dataWindow();
    const uint64_t width = static_cast<uint64_t>(static_cast<int64_t>(window.max.x) - window.min.x + 1);
    const uint64_t height = static_cast<uint64_t>(static_cast<int64_t>(window.max.y) - window.min.y + 1);
    if (!image_allocate(found, width, height, why))
        return false;
    static const char *const NAMES[] = {"R", "G", "B"};
    Imf::FrameBuffer buffer;
    for (int c = 0; c < (colour ? 3 : 1); c++)
        buffer.insert(colour ? NAMES[c] : "Y",
                      Imf::Slice::Make(Imf::FLOAT, found->channel[c], window, sizeof(float), sizeof(float) * width));
    file.setFrameBuffer(buffer);
    file.readPixels(window.min.y, window.max.y);
    for (int c = 1; !colour && c < 3; c++)
        std::memcpy(found->channel[c], found->channel[0], image_pixels(found) * sizeof(float));
    return true;
}

} // namespace

extern "C" bool exr_decode(const unsigned char *bytes, size_t size, image *picture, problem *why) {
    image found = {};
    bool good = false;
    try {
        good = decode(bytes, size, &found, why);
    } catch (const std::exception &exception) {
        refuse(why, "cannot be read as OpenEXR: %.200s", exception.what());
    }
    if (good)
        *picture = found;
    else
        image_free(&found);
    return good;
}
