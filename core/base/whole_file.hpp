#pragma once
// Files that are there whole, or not at all.
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>

namespace tessera {

/// Who may read and write a file that is made.
enum class file_access : std::uint8_t {
  usual,  ///< as the umask says
  owner
};

/// Writes a file from its parts, one behind the other. They go to a file beside it that takes the name when it is
/// whole: a reader, a full disk or an end of the process never leave a part of a file under the name, and an older file
/// stays until then. It keeps the older file's access rights; a new one has the usual ones. A symbolic link stays, and
/// what it names is replaced. What is no regular file (a pipe, /dev/full), or named below /dev or /proc, is written to
/// directly. Nothing is synchronised with the disk. Returns why not.
/// With file_access::owner the file is the owner's alone, and replaces whatever has the name: an older file's rights do
/// not count, and a link is not followed.
[[nodiscard]] std::error_code write_whole_file(const std::filesystem::path& file,
                                               std::initializer_list<std::string_view> parts,
                                               file_access who = file_access::usual);

/// Reads all of a file into `text`: a regular one, or what a pipe gives until its end. A folder is an error, and so is
/// a read that fails on the way: `text` is then empty, never a part. Returns why not.
[[nodiscard]] std::error_code read_whole_file(const std::filesystem::path& file, std::string& text);

/// Whether write_whole_file could begin: the reason why not. Leaves everything as it was.
[[nodiscard]] std::error_code check_writable(const std::filesystem::path& file);

/// Writes all of a text to an open file, in as many pieces as the system likes.
[[nodiscard]] std::error_code write_all(int descriptor, std::string_view text);

/// What a user can do about such an error; "" where nothing general is known.
[[nodiscard]] std::string_view hint_for_writing(const std::error_code& reason);

}  // namespace tessera
