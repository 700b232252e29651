// Runs in the threads of the history: one writes, one reads, so that a long search never delays writing.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { learn } from '../logging/safe-value.ts'
import { unpacked } from './call-batch.ts'
import { explain } from './database.ts'
import { PRUNE_MS } from './limits.ts'
import type { FromReader, FromWriter, ThreadData, ToReader, ToWriter } from './messages.ts'
import { HistoryReader } from './reader.ts'
import { HistoryWriter } from './writer.ts'

const data = workerData as ThreadData
const port = parentPort as MessagePort
if (data.role === 'write') write()
else read()

function write(): void {
  const send = (message: FromWriter) => port.postMessage(message)
  const writer = new HistoryWriter({ ...data, onReplaced: text => send({ type: 'replaced', text }) })
  port.on('message', (message: ToWriter) => {
    if (message.type === 'secrets') learn(message.secrets)
    if (message.type === 'batch') writeBatch(writer, message, send)
    if (message.type === 'damaged') reporting(() => writer.check(), send)
    if (message.type === 'flush') {
      reporting(() => writer.takeSpool(), send)
      send({ type: 'flushed', id: message.id })
    }
    if (message.type === 'close') end(writer)
  })
  const isOpen = reporting(() => writer.open(), send)
  if (isOpen) send({ type: 'open', lastSerial: writer.lastSerial })
  prune(writer, send)
}

function writeBatch(
  writer: HistoryWriter,
  { batch }: ToWriter & { type: 'batch' },
  send: (message: FromWriter) => void,
): void {
  const done = { type: 'done', calls: batch.calls, characters: batch.characters } as const
  try {
    writer.write(unpacked(batch))
    send(done)
  } catch (error) {
    send({ ...done, problem: explain(error, data.file).message })
  }
  // As fast as calls come in, so that the file never exceeds its limit.
  if (writer.isFull) reporting(() => writer.prune(), send)
}

/** A few at a time, with incoming batches written in between. */
function prune(writer: HistoryWriter, send: (message: FromWriter) => void): void {
  let isMore = false
  reporting(() => {
    writer.takeSpool()
    isMore = writer.prune()
  }, send)
  if (isMore) setImmediate(() => prune(writer, send))
  else setTimeout(() => prune(writer, send), PRUNE_MS)
}

function reporting(action: () => void, send: (message: FromWriter) => void): boolean {
  try {
    action()
    return true
  } catch (error) {
    send({ type: 'problem', problem: explain(error, data.file).message })
    return false
  }
}

function end(writer: HistoryWriter): void {
  writer.close()
  // The last answers have been sent; nothing else keeps the thread alive.
  port.close()
  setImmediate(() => process.exit())
}

function read(): void {
  const reader = new HistoryReader(data.file)
  const send = (message: FromReader) => port.postMessage(message)
  port.on('message', (message: ToReader) => {
    if (message.type === 'reopen') return reader.close()
    const { id } = message
    try {
      const value = message.type === 'list' ? reader.list(message.query) : reader.get(message.serial)
      send({ type: 'answer', id, value })
    } catch (error) {
      const { message: problem, isDamaged } = explain(error, data.file)
      send({ type: 'failed', id, problem, isDamaged })
    }
  })
}
