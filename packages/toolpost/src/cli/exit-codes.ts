export { EXIT, UsageError } from 'toolpost-common/exit-codes'
