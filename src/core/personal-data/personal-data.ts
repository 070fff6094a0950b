export {
  type Anonymisation,
  type AnonymisationBatch,
  type AnonymisationStep,
  type ErasureSteps,
  ROWS_AT_ONCE,
} from "./anonymisation.ts";
export { type ErasedPerson, hasAddressIn, isAddressOf } from "./erased-person.ts";
export { columnsOf, type TableDeclaration, type TableDeclarations, wordsOf } from "./table-declaration.ts";
export {
  type AnonymisationPart,
  assignments,
  emptied,
  eraseValue,
  numberedName,
  pseudonym,
  pseudonymousAddress,
  pseudonymousAddressIfAny,
  replaceWith,
  reworded,
} from "./treatment.ts";
