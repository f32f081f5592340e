// Runs a fuzz target over a corpus and random mutations of it: FOLDER DICTIONARY SECONDS [SEED [INPUT]].
// An input is a function of the seed and its number, so that it can be made again.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

namespace {

namespace fs = std::filesystem;
using clock_type = std::chrono::steady_clock;

constexpr double slow_s = 10;           // of processor time, for one input, under sanitizers
constexpr std::size_t largest = 20000;  // bytes of an input

std::uint64_t current_seed = 0, current_input = 0;

void tell() {
  std::fprintf(stderr, "failed: seed %llu, input %llu\n", static_cast<unsigned long long>(current_seed),
               static_cast<unsigned long long>(current_input));
}

void on_signal(int number) {
  tell();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Lines `"word"` of a libFuzzer dictionary, with \n and \xNN not needed here.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.size() > 2 && line.front() == '"' && line.back() == '"') words.push_back(line.substr(1, line.size() - 2));
    at = end + 1;
  }
  return words;
}

class mutator {
 public:
  mutator(std::vector<std::string> corpus, std::vector<std::string> words)
      : m_corpus(std::move(corpus)), m_words(std::move(words)) {}

  std::string input(std::uint64_t seed, std::uint64_t number) {
    if (number < m_corpus.size()) return m_corpus[number];
    m_random.seed(seed * 1000003 + number);
    std::string text = m_corpus[below(m_corpus.size())];
    for (std::size_t edits = 1 + below(below(4) == 0 ? 40 : 4); edits > 0; --edits) edit(text);
    if (text.size() > largest) text.resize(largest);
    return text;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : m_random() % limit; }
  std::string piece(const std::string& of, std::size_t longest) {
    const std::size_t at = below(of.size() + 1);
    return of.substr(at, below(longest));
  }
  // Begin and length of some line.
  std::pair<std::size_t, std::size_t> line(const std::string& text) {
    const std::size_t at = below(text.size());
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1,
                      end = std::min(text.find('\n', at), text.size() - 1);
    return {begin, end < begin ? 0 : end - begin + 1};
  }

  void edit(std::string& text) {
    if (text.empty()) text = "\n";
    const std::size_t at = below(text.size());
    switch (below(9)) {
      case 0:
        text[at] = static_cast<char>(m_random());
        break;
      case 1:
        text.erase(at, 1 + below(20));
        break;
      case 2:
        text.insert(at, piece(text, 40));
        break;
      case 3:
        text.insert(at, piece(m_corpus[below(m_corpus.size())], 200));
        break;
      case 4:
        text.insert(at, m_words.empty() ? " " : " " + m_words[below(m_words.size())] + " ");
        break;
      case 5: {
        const auto [begin, length] = line(text);
        text.erase(begin, length);
        break;
      }
      case 6: {  // a line of the corpus to some line's place
        const std::string& from = m_corpus[below(m_corpus.size())];
        if (from.empty()) break;
        const auto [begin, length] = line(from);
        text.insert(line(text).first, from.substr(begin, length));
        break;
      }
      case 7: {  // a word again and again
        const std::string again = piece(text, 12);
        for (std::size_t k = below(below(8) == 0 ? 2000 : 20); k > 0 && text.size() < largest; --k)
          text.insert(at, again);
        break;
      }
      case 8: {  // a word for another
        const std::size_t begin = text.find_first_of("abcdefghijklmnopqrstuvwxyz", at);
        if (begin == text.npos || m_words.empty()) break;
        const std::size_t end =
            std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789", begin), text.size());
        text.replace(begin, end - begin, m_words[below(m_words.size())]);
        break;
      }
    }
  }

  std::vector<std::string> m_corpus, m_words;
  std::mt19937_64 m_random;
};

void run(const std::string& text) {
  const std::clock_t begin = std::clock();  // of this process: a machine may be busy, or stop it
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const double took_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  if (took_s < slow_s) return;
  std::fprintf(stderr, "an input took %.1f s\n", took_s);
  std::abort();
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    std::fprintf(stderr, "usage: %s FOLDER DICTIONARY SECONDS [SEED [INPUT]]\n", arguments[0]);
    return 2;
  }
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(arguments[1])) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> corpus;
  for (const fs::path& path : paths) corpus.push_back(read(path));
  if (corpus.empty()) {
    std::fprintf(stderr, "no corpus in %s\n", arguments[1]);
    return 2;
  }
  const double seconds = std::atof(arguments[3]);
  current_seed = count > 4 ? std::strtoull(arguments[4], nullptr, 10) : std::random_device{}();
  mutator inputs(corpus, words_of(read(arguments[2])));

  std::signal(SIGABRT, on_signal);
  std::signal(SIGALRM, on_signal);
  if (__sanitizer_set_death_callback)
    __sanitizer_set_death_callback(tell);
  else
    std::signal(SIGSEGV, on_signal);

  if (count > 5) {
    current_input = std::strtoull(arguments[5], nullptr, 10);
    const std::string text = inputs.input(current_seed, current_input);
    std::ofstream("fuzz_input", std::ios::binary) << text;
    run(text);
    return 0;
  }
  const auto begin = clock_type::now();
  for (; current_input < corpus.size() || std::chrono::duration<double>(clock_type::now() - begin).count() < seconds;
       ++current_input)
    run(inputs.input(current_seed, current_input));
  std::printf("seed %llu: %llu inputs\n", static_cast<unsigned long long>(current_seed),
              static_cast<unsigned long long>(current_input));
  return 0;
}
