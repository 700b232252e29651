import type { Secrets } from '../logging/safe-value.ts'
import type { PackedBatch } from './call-batch.ts'
import type { CallPage, CallQuery } from './filter.ts'
import type { StoredCall } from './stored-call.ts'

/** The start data of a history thread. */
export interface ThreadData {
  role: 'write' | 'read'
  file: string
  days: number
  maxMb: number
}

export type ToWriter =
  | { type: 'batch'; batch: PackedBatch }
  | { type: 'secrets'; secrets: Secrets }
  /** Answered once everything sent before, and the spool of commands, is in the file. */
  | { type: 'flush'; id: number }
  /** The reader found the file damaged. */
  | { type: 'damaged' }
  | { type: 'close' }

export type FromWriter =
  | { type: 'open'; lastSerial: number }
  | { type: 'problem'; problem: string }
  /** `problem`: why the batch is not in the file. */
  | { type: 'done'; calls: number; characters: number; problem?: string }
  | { type: 'flushed'; id: number }
  | { type: 'replaced'; text: string }

export type ToReader =
  | { type: 'list'; id: number; query: CallQuery }
  | { type: 'get'; id: number; serial: number }
  | { type: 'reopen' }

export type FromReader =
  | { type: 'answer'; id: number; value: CallPage | StoredCall | undefined }
  | { type: 'failed'; id: number; problem: string; isDamaged: boolean }
