/* What packages beside this one need to talk to people: questions and log lines, without secrets. */
export { askAtTerminal } from './cli/questions.ts'
export { safeValue } from './logging/safe-value.ts'
export { stderrLogger } from './logging/stderr-logger.ts'
export { fieldsOf, yesNoField } from './tools/caller.ts'
