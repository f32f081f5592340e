#pragma once
// What a page of this repository must not have. Each check returns one sentence per fault, with its line.
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace documents {

using faults = std::vector<std::string>;

/// Words that somebody meant to fill in: @INTRO@, TODO.
faults placeholders(const std::string& page);

/// Tables without a line of dashes behind their head, which is also what a row becomes that a blank line cuts off, and
/// rows with another number of cells than the head has.
faults broken_tables(const std::string& page);

/// Links to files that do not exist, and to headings that the file does not have. Links to other hosts are not
/// followed.
faults broken_links(const std::filesystem::path& document);

/// Lines of text above `most` columns; tables, code and lines with an address may be longer.
faults long_lines(const std::string& page, std::size_t most);

/// Translated idioms. The list is in checks.cpp with the words to write instead.
faults idioms(const std::string& page);

/// Sentences of more than `max_words` words, at the line that they begin on: of text, of entries of lists, and of cells
/// of tables. A code span is one word; a sentence ends at `.`, `!` or `?` in front of anything but a small letter, and
/// at the end of its paragraph, entry or cell.
faults long_sentences(const std::string& page, std::size_t max_words);

/// Paragraphs, entries of lists and cells of tables of more than `max_words` words, at the line that they begin on.
faults long_paragraphs(const std::string& page, std::size_t max_words);

/// Entries of a list whose first line occurs twice in the page.
faults doubled_entries(const std::string& page);

/// Entries of a list that stand under no heading of the third level: of a changelog, under no theme.
faults entries_without_a_theme(const std::string& page);

/// Words that two rows of a vocabulary explain: of its tables whose first column is "word". A row may have several,
/// with commas between them.
faults doubled_words(const std::string& page);

}  // namespace documents
