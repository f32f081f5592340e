#pragma once
// One function per group of statements; each throws check_failed behind its message.
#include "languages/sial/language/check/environment.hpp"

namespace tessera::sial {

using statement_form = decltype(statement::form);

statement_form check_assignment(environment& in, const syntax::statement& s);
/// Of a block: every form of block arithmetic.
statement_form check_block_assignment(environment& in, const syntax::statement& s);

// get request put prepare create delete destroy
statement_form check_fetch(environment& in, const syntax::statement& s);
statement_form check_store(environment& in, const syntax::statement& s);
statement_form check_create(environment& in, const syntax::statement& s);

statement_form check_allocate(environment& in, const syntax::statement& s);
statement_form check_execute(environment& in, const syntax::statement& s);
statement_form check_print(environment& in, const syntax::statement& s);

// collective broadcast_from assert_same set_persistent restore_persistent gpu_...
statement_form check_collective(environment& in, const syntax::statement& s);
statement_form check_persistent(environment& in, const syntax::statement& s);
statement_form check_gpu_transfer(environment& in, const syntax::statement& s);

std::string word_of(array_kind k);

}  // namespace tessera::sial
