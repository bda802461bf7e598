// The published surface of @countersign/sdk/tool-call, the common part of all adapters: asks a person about one tool
// call, decides which input may run, redeems it, and tells the model what ran or why nothing did.

export { refuseRounded } from "./exactness.ts";
export { isShownAs } from "./standard-schema.ts";
export {
  type ApprovedCall,
  type AskOptions,
  approvalOf,
  askAndWait,
  type Describe,
  inputToRun,
  isAskedBy,
  keyOf,
  lastDecided,
  refusalOf,
  refuseLargeState,
  shownInput,
  unfitness,
} from "./tool-asking.ts";
export {
  problemWith,
  redeemForRun,
  redeemForTool,
  type Schemas,
  schemaOf,
  type Validate,
  withSchema,
} from "./tool-redeeming.ts";
export {
  type Decision,
  decisionOf,
  failureWith,
  isEdited,
  isNotRun,
  type NotRun,
  refusalText,
  separate,
  type Told,
  tellWith,
  unapprovedText,
  unfitText,
  unusableText,
  withDecision,
} from "./tool-results.ts";
