export { askAtTerminal, fieldsOf, yesNoField } from './cli/questions.ts'
