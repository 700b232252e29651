import { Worker } from 'node:worker_threads'
import { compiledFile } from '../runtime/package-root.ts'
import { HistoryError } from './database.ts'
import { MAX_QUESTIONS } from './limits.ts'
import type { FromReader, ThreadData, ToReader } from './messages.ts'

interface PendingQuery {
  resolve(value: unknown): void
  reject(error: HistoryError): void
}

type Asked = { type: 'list'; query: object } | { type: 'get'; serial: number }

/** The reader thread, started by the first query. Keeps the process alive only while a query is pending. */
export class Reading {
  readonly #data: Omit<ThreadData, 'role'>
  readonly #onDamaged: () => void
  readonly #questions = new Map<number, PendingQuery>()
  #worker: Worker | undefined
  #id = 0

  constructor(data: Omit<ThreadData, 'role'>, onDamaged: () => void) {
    this.#data = data
    this.#onDamaged = onDamaged
  }

  /** Rejects with a HistoryError. */
  ask(asked: Asked): Promise<unknown> {
    if (this.#questions.size >= MAX_QUESTIONS)
      return Promise.reject(new HistoryError('Too many pending searches of the history; try again later'))
    const id = ++this.#id
    return new Promise((resolve, reject) => {
      this.#questions.set(id, { resolve, reject })
      this.#worker ??= this.#start()
      this.#worker.ref()
      this.#worker.postMessage({ ...asked, id } as ToReader)
    })
  }

  /** The file was replaced. */
  reopen(): void {
    this.#worker?.postMessage({ type: 'reopen' } satisfies ToReader)
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(compiledFile('history/thread.js'), {
      workerData: { ...this.#data, role: 'read' },
    })
    worker.on('message', (message: FromReader) => this.#take(message))
    worker.on('error', error => this.#failAll(`The history could not be read: ${error.message}`))
    worker.once('exit', () => {
      this.#worker = undefined
      this.#failAll('The history is closed')
    })
    return worker
  }

  #take(message: FromReader): void {
    const question = this.#questions.get(message.id)
    this.#questions.delete(message.id)
    if (this.#questions.size === 0) this.#worker?.unref()
    if (message.type === 'answer') return question?.resolve(message.value)
    if (message.isDamaged) this.#onDamaged()
    question?.reject(new HistoryError(message.problem, { isDamaged: message.isDamaged }))
  }

  #failAll(problem: string): void {
    for (const { reject } of this.#questions.values()) reject(new HistoryError(problem))
    this.#questions.clear()
  }
}
