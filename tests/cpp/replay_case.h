// The cases of replay.cpp, read from the file that tests/processes/write_cases.py writes.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

// The file: numbers of 8 bytes, and texts after their length.
class Reader {
 public:
  explicit Reader(const char* name) {
    std::ifstream file(name, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    if (text() != "padops cases") throw std::runtime_error(std::string(name) + " is no file of cases");
  }

  bool ended() const { return at_ == bytes_.size(); }

  int64_t number() {
    int64_t value = 0;
    std::memcpy(&value, take(sizeof(value)), sizeof(value));
    return value;
  }

  std::string text() {
    const auto size = static_cast<size_t>(number());
    return {take(size), size};
  }

 private:
  const char* take(size_t size) {
    if (size > bytes_.size() - at_) throw std::runtime_error("the file of cases ends too early");
    at_ += size;
    return bytes_.data() + at_ - size;
  }

  std::vector<char> bytes_;
  size_t at_ = 0;
};

constexpr int64_t kString = 8;  // ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING

struct Tensor {
  std::string name;
  int64_t type = 0;
  std::vector<int64_t> dims;
  std::string bytes;               // of the elements,
  std::vector<std::string> texts;  // or the elements where they are strings

  bool operator==(const Tensor& other) const {  // but for the name
    return type == other.type && dims == other.dims && bytes == other.bytes && texts == other.texts;
  }
};

inline Tensor read_tensor(Reader& file) {
  Tensor tensor;
  tensor.name = file.text();
  tensor.type = file.number();
  tensor.dims.resize(static_cast<size_t>(file.number()));
  for (int64_t& dim : tensor.dims) dim = file.number();
  if (tensor.type != kString) {
    tensor.bytes = file.text();
  } else {
    tensor.texts.resize(static_cast<size_t>(file.number()));
    for (std::string& element : tensor.texts) element = file.text();
  }
  return tensor;
}

struct Case {
  std::string id;
  int64_t since = 0;     // the first onnxruntime 1.x with the type
  int64_t provider = 0;  // whether it is for the execution provider
  std::string model;
  std::vector<Tensor> inputs;
  std::string error;  // what a message must say; empty where there is an output
  Tensor output;
};

inline Case read_case(Reader& file) {
  Case read;
  read.id = file.text();
  read.since = file.number();
  read.provider = file.number();
  read.model = file.text();
  read.inputs.resize(static_cast<size_t>(file.number()));
  for (Tensor& input : read.inputs) input = read_tensor(file);
  read.error = file.text();
  if (read.error.empty()) read.output = read_tensor(file);
  return read;
}
