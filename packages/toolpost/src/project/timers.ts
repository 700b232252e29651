import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ToolExecutor } from '../executor/executor.ts'
import type { Logger } from '../logging/logger.ts'
import { defineTool, type Tool } from '../tools/tool.ts'
import { type Clock, MAX_TIMER_MS, systemClock, type Timer } from '../util/clock.ts'
import { isRecord } from '../util/guards.ts'
import { describeThrown } from '../util/quietly.ts'
import type { Part } from './project-options.ts'

/** A timer that has ended, and what came of it. */
export interface TimerEvent {
  name: string | undefined
  /** What to say: "The tea timer is done." */
  text: string
}

interface KeptTimer {
  id: string
  name?: string | undefined
  /** Milliseconds since 1970: it outlives the process. */
  endsAt: number
  calls?: { name: string; args: Record<string, unknown> }[] | undefined
  /** Who set it; its calls are made in their name. */
  origin?: string | undefined
  caller?: string | undefined
}

interface TimerArgs {
  action: 'set' | 'list' | 'remaining' | 'change' | 'cancel'
  name?: string
  seconds?: number
  less?: number
  at?: string
  all?: boolean
  calls?: { name: string; args?: Record<string, unknown> }[]
}

interface TimersOptions {
  executor: ToolExecutor
  /** The `.toolpost` folder. */
  folder: () => string
  onEnd: (event: TimerEvent) => void
  logger: Logger
  clock?: Clock | undefined
  /** Milliseconds since 1970. */
  now?: (() => number) | undefined
}

const FILE = 'timers.json'
const MAX_TIMERS = 100
const MAX_SECONDS = 30 * 86_400
/** A command that was due longer ago, while nothing was running, is not carried out. */
const MAX_LATE_MS = 60_000
/** The owner's calls, if there are other clients. */
const OWNER = 'default'

/** Timers and commands for later: the `timer` tool. They are kept in `.toolpost/timers.json`, and end while the project runs. */
export class Timers implements Part {
  readonly #options: TimersOptions
  readonly #clock: Clock
  readonly #now: () => number
  #timers: KeptTimer[] = []
  #next: Timer | undefined

  constructor(options: TimersOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#now = options.now ?? Date.now
  }

  /** Adds the tool and goes on with the timers that were kept. */
  start(): void {
    this.#timers = this.#read()
    this.#options.executor.tools.addCustomTool(this.#tool())
    this.#schedule()
  }

  close(): void {
    this.#next?.cancel()
    this.#next = undefined
  }

  #tool(): Tool {
    return defineTool<TimerArgs>({
      name: 'timer',
      description:
        'Sets, lists, changes and cancels timers. With `calls`, these tools are called when the timer ends: a command for later.',
      schema: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['set', 'list', 'remaining', 'change', 'cancel'] },
          name: {
            type: 'string',
            description: 'What it is for, such as "tea"; it identifies the timer later.',
          },
          seconds: { type: 'number', description: 'How long (set), or by how much longer (change).' },
          less: { type: 'number', description: 'By how many seconds shorter (change).' },
          at: {
            type: 'string',
            pattern: '^\\d\\d:\\d\\d$',
            description: 'A time of day instead of seconds.',
          },
          all: { type: 'boolean', description: 'Cancel all timers.' },
          calls: {
            type: 'array',
            maxItems: 20,
            items: {
              type: 'object',
              properties: { name: { type: 'string' }, args: { type: 'object' } },
              required: ['name'],
            },
          },
        },
        required: ['action'],
        additionalProperties: false,
      },
      handler: (args, options) => this.#handle(args, options as { origin?: string; caller?: string }),
    })
  }

  #handle(args: TimerArgs, { origin, caller }: { origin?: string; caller?: string }): object {
    if (args.action === 'set') return this.#set(args, { origin, caller })
    if (args.action === 'list') {
      const text = this.#timers.map(timer => `${this.#title(timer)} has ${this.#left(timer)} left`).join('; ')
      return {
        text: text ? `${text}.` : 'No timer is set.',
        timers: this.#timers.map(timer => this.#shown(timer)),
      }
    }
    if (args.action === 'cancel' && args.all) {
      const count = this.#timers.length
      this.#keep([])
      return {
        text:
          count === 0 ? 'No timer is set.' : `${count} ${count === 1 ? 'timer is' : 'timers are'} cancelled.`,
      }
    }
    const timer = this.#find(args.name)
    if (args.action === 'cancel') {
      this.#keep(this.#timers.filter(each => each !== timer))
      return { text: `${this.#title(timer)} is cancelled.` }
    }
    if (args.action === 'remaining')
      return { text: `${this.#title(timer)} has ${this.#left(timer)} left.`, ...this.#shown(timer) }
    const by = (args.seconds ?? 0) - (args.less ?? 0)
    const changed = { ...timer, endsAt: timer.endsAt + by * 1_000 }
    this.#keep(this.#timers.map(each => (each === timer ? changed : each)))
    return { text: `${this.#title(changed)} now has ${this.#left(changed)} left.`, ...this.#shown(changed) }
  }

  #set({ name, seconds, at, calls }: TimerArgs, by: Pick<KeptTimer, 'origin' | 'caller'>): object {
    const endsAt = at === undefined ? this.#now() + (seconds ?? 0) * 1_000 : this.#nextTime(at)
    const total = (endsAt - this.#now()) / 1_000
    if (!(total > 0) || total > MAX_SECONDS) throw new Error('A timer takes between a second and 30 days.')
    if (this.#timers.length >= MAX_TIMERS) throw new Error(`There are already ${MAX_TIMERS} timers.`)
    if (calls && by.caller !== undefined && by.caller !== OWNER)
      throw new Error('Only the owner can have tools called later.')
    const unknown = calls?.find(call => !this.#options.executor.tools.findTool(call.name))
    if (unknown) throw new Error(`Tool '${unknown.name}' not found`)
    const timer: KeptTimer = {
      id: randomUUID(),
      ...(name !== undefined && { name }),
      endsAt,
      ...(calls && { calls: calls.map(call => ({ name: call.name, args: call.args ?? {} })), ...by }),
    }
    this.#keep([...this.#timers, timer])
    const text = calls
      ? `I will do that in ${this.#left(timer)}.`
      : `${this.#title(timer)} is set for ${this.#left(timer)}.`
    return { text, ...this.#shown(timer) }
  }

  /** The named timer, or the only one. Throws an Error that lists the timers. */
  #find(name: string | undefined): KeptTimer {
    const wanted = name?.toLowerCase()
    const found = this.#timers.filter(each => wanted === undefined || each.name?.toLowerCase() === wanted)
    const [timer, ...others] = found
    if (timer && others.length === 0) return timer
    if (this.#timers.length === 0) throw new Error('No timer is set.')
    throw new Error(`Which timer? There are: ${this.#timers.map(each => this.#title(each)).join(', ')}.`)
  }

  #nextTime(at: string): number {
    const [hours = 0, minutes = 0] = at.split(':').map(Number)
    const date = new Date(this.#now())
    date.setHours(hours, minutes, 0, 0)
    if (date.getTime() <= this.#now()) date.setDate(date.getDate() + 1)
    return date.getTime()
  }

  #title({ name, calls }: KeptTimer): string {
    return name !== undefined ? `The ${name} timer` : calls ? 'The command' : 'The timer'
  }

  #left({ endsAt }: KeptTimer): string {
    const seconds = Math.max(0, Math.round((endsAt - this.#now()) / 1_000))
    const parts = [
      [Math.floor(seconds / 3_600), 'hour'],
      [Math.floor((seconds % 3_600) / 60), 'minute'],
      [seconds % 60, 'second'],
    ] as const
    const said = parts
      .filter(([count]) => count > 0)
      .map(([count, unit]) => `${count} ${unit}${count === 1 ? '' : 's'}`)
    return said.join(' ') || '0 seconds'
  }

  #shown({ id, name, endsAt, calls }: KeptTimer): object {
    const remaining = Math.max(0, Math.round((endsAt - this.#now()) / 1_000))
    return { id, ...(name !== undefined && { name }), remaining_seconds: remaining, ...(calls && { calls }) }
  }

  #keep(timers: KeptTimer[]): void {
    this.#timers = timers
    const folder = this.#options.folder()
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const file = join(folder, FILE)
    writeFileSync(`${file}.new`, JSON.stringify(timers), { mode: 0o600 })
    renameSync(`${file}.new`, file)
    this.#schedule()
  }

  #read(): KeptTimer[] {
    try {
      const kept: unknown = JSON.parse(readFileSync(join(this.#options.folder(), FILE), 'utf8'))
      const isTimer = (each: unknown): each is KeptTimer => isRecord(each) && typeof each.endsAt === 'number'
      return Array.isArray(kept) ? kept.filter(isTimer) : []
    } catch {
      return []
    }
  }

  #schedule(): void {
    this.#next?.cancel()
    this.#next = undefined
    if (this.#timers.length === 0) return
    const first = Math.min(...this.#timers.map(({ endsAt }) => endsAt))
    const delayMs = Math.min(Math.max(0, first - this.#now()), MAX_TIMER_MS)
    this.#next = this.#clock.setTimer(() => this.#endDue(), delayMs)
    this.#next.hold(false)
  }

  #endDue(): void {
    const due = this.#timers.filter(({ endsAt }) => endsAt <= this.#now())
    this.#keep(this.#timers.filter(timer => !due.includes(timer)))
    for (const timer of due)
      void this.#end(timer).catch(error =>
        this.#options.logger.warn({ error: describeThrown(error) }, 'A timer could not be ended'),
      )
  }

  async #end(timer: KeptTimer): Promise<void> {
    const { name, calls, origin, caller } = timer
    const isLate = this.#now() - timer.endsAt > MAX_LATE_MS
    if (calls && isLate) {
      const text = `${this.#title(timer)} was due while Toolpost was not running, so it was not carried out.`
      return this.#options.onEnd({ name, text })
    }
    if (!calls) return this.#options.onEnd({ name, text: `${this.#title(timer)} is done.` })
    const { executor } = this.#options
    const results = await Promise.all(
      calls.map(call =>
        executor.run({ id: `timer_${randomUUID()}`, ...call }, { origin: origin ?? 'timer', caller }),
      ),
    )
    const said = results.map(result =>
      result.success ? executor.text(result) : `That did not work: ${result.error}`,
    )
    this.#options.onEnd({ name, text: said.join(' ') })
  }
}
