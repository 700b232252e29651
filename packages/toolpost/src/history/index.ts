export { HistoryError } from './database.ts'
export { type History, type HistoryOptions, type HistoryStatus, openHistory } from './history.ts'
export type { CallFilter, CallPage, CallQuery } from './query.ts'
export type { StoredCall } from './stored-call.ts'
