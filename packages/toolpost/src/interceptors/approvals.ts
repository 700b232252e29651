import type { CallContext } from '../executor/context.ts'
import { withoutKnownSecrets } from '../logging/redact.ts'
import { cleaner, escapeControls } from '../logging/safe-value.ts'
import { type Clock, MAX_TIMER_MS, systemClock, type Timer } from '../runtime/clock.ts'
import { Listeners } from '../runtime/listeners.ts'
import { type PlainLimits, plainCopy } from '../runtime/plain-value.ts'
import {
  type Approval,
  type Asked,
  byAge,
  type Decision,
  deniedBy,
  durationText,
  keyOf,
  newApproval,
  questionOf,
  type RememberedDecision,
  type Verdict,
} from './approval.ts'
import { type Keep, Remembered } from './remembered.ts'
import { type SharedApprovals, SharedList } from './shared-approvals.ts'

const MAX_SHOWN_BYTES = 20_000
/**
 * The arguments as the approver sees them. Nothing is shortened, and only values of secret keys and known secrets are
 * removed: text that merely resembles a token may be the dangerous part.
 */
const SHOWN: PlainLimits = {
  maxDepth: 100,
  maxEntries: MAX_SHOWN_BYTES,
  maxBytes: MAX_SHOWN_BYTES,
  maxValues: MAX_SHOWN_BYTES,
  cleaner: { ...cleaner, text: shownText, key: shownText },
}

function shownText(text: string): string {
  return escapeControls(withoutKnownSecrets(text))
}

export interface ApprovalsOptions {
  /** How long an approval waits, and how long a granted one may be used. */
  timeoutMs?: number | undefined
  /** How long calls of an origin are held. After that they fail with a note that they are waiting, and may be repeated. */
  patienceMs?: Readonly<Record<string, number>> | undefined
  /** Calls beyond this are refused. */
  maxWaiting?: number | undefined
  remembered?: readonly RememberedDecision[] | undefined
  onRemember?: Keep | undefined
  /** Calls that need no approval; remembered decisions take precedence. */
  isApproved?: ((call: CallContext) => boolean) | undefined
  clock?: Clock | undefined
}

const DEFAULT_TIMEOUT_MS = 5 * 60_000
const DEFAULT_MAX_WAITING = 1_000
/** Most MCP clients give up after a minute, and a model's answer has two minutes in total. */
const DEFAULT_PATIENCE_MS = { mcp: 45_000, chat: 90_000 }

interface Entry {
  approval: Approval
  /** Identifies tool, arguments and caller: what the approval covers. */
  key: string
  timer: Timer
  /** Answers the waiting call. */
  settle: ((verdict: Verdict) => void) | undefined
  by?: string | undefined
}

/**
 * Asks a person whether a call may run. An approval covers one execution of one tool with one set of arguments by one
 * caller, for a limited time.
 */
export class Approvals {
  readonly #entries = new Map<string, Entry>()
  readonly #remembered: Remembered
  readonly #listeners = new Listeners<{ change: Approval[] }>(() => {})
  #options: ApprovalsOptions
  readonly #clock: Clock
  readonly #shared = new SharedList(() => this.#tell())

  constructor(options: ApprovalsOptions = {}) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#remembered = new Remembered(options.remembered)
  }

  /** Changes the options for later calls. Waiting calls keep waiting, and decisions for the session stay. */
  update(options: Pick<ApprovalsOptions, 'timeoutMs' | 'remembered' | 'isApproved'>): void {
    this.#options = { ...this.#options, ...options }
    this.#remembered.update(options.remembered ?? [])
  }

  /** The approvals waiting for a decision, oldest first. */
  list(): Approval[] {
    const own = [...this.#entries.values()].map(entry => entry.approval)
    const waiting = own.filter(({ state }) => state === 'waiting')
    return this.#shared.isEmpty ? waiting : [...waiting, ...this.#shared.approvals].sort(byAge)
  }

  /** Delegates the calls that `sharing` is responsible for; returns a function that ends this. */
  share = (sharing: SharedApprovals): (() => void) => this.#shared.share(sharing)

  /** Updates the list of shared approvals. */
  showShared = (approvals: readonly Approval[]): void => this.#shared.show(approvals)

  /** Calls `listener` with the waiting approvals whenever they change; returns a function that unsubscribes it. */
  onChange(listener: (waiting: Approval[]) => void): () => void {
    return this.#listeners.on('change', listener)
  }

  /** Decides; `undefined` if nothing waits under that id: already decided, expired or never asked. */
  decide(id: string, decision: 'approve' | 'deny', about: Decision = {}): Approval | undefined {
    const { by, reason } = about
    const entry = this.#entries.get(id)
    if (!entry) return this.#decideShared(id, decision, about)
    if (entry.approval.state !== 'waiting') return undefined
    const { approval } = entry
    this.#remembered.note(approval, decision, about, this.#options.onRemember)
    if (decision === 'deny') this.#end(entry, { approved: false, reason: reason ?? deniedBy(by), id, by })
    else if (entry.settle) this.#end(entry, { approved: true, reason: '', id, by })
    else {
      // Its call is no longer waiting, and may be repeated.
      Object.assign(entry, { approval: { ...approval, state: 'approved' }, by })
      this.#tell()
    }
    return approval
  }

  /** Asks on every available channel whether a call may run. Never rejects. */
  async request(call: CallContext, because?: string, timeoutMs?: number): Promise<Verdict> {
    const key = keyOf(call)
    if (key === undefined) return { approved: false, reason: 'its arguments cannot be displayed' }
    const known = this.#remembered.find(call)
    if (known) return { approved: known.then === 'allow', reason: known.because, by: 'remembered' }
    if (this.#options.isApproved?.(call)) return { approved: true, reason: '', by: 'autoApprove' }
    const given = this.#take(key)
    if (given) return given
    const shown = plainCopy(call.args, SHOWN)
    if (!shown.isComplete || shown.bytes > MAX_SHOWN_BYTES)
      return { approved: false, reason: 'its arguments are too large to display' }
    if (this.#isFull(call)) return { approved: false, reason: 'too many calls are waiting for approval' }
    const about = { key, args: shown.value, because, timeoutMs }
    const verdict = await (this.#elsewhere(call, about) ??
      this.#wait(call, this.#find(key, ({ settle }) => !settle) ?? this.#create(call, about)))
    // The caller still holds the arguments and could have changed them since.
    if (verdict.approved && keyOf(call) !== key)
      return { ...verdict, approved: false, reason: 'its arguments were changed while it waited' }
    return verdict
  }

  /** Denies everything that is waiting. */
  close(): void {
    for (const entry of [...this.#entries.values()])
      this.#end(entry, { approved: false, reason: 'Toolpost is shutting down' })
  }

  /** Uses up an approval that was granted while no call was waiting for it. */
  #take(key: string): Verdict | undefined {
    const entry = this.#find(key, ({ approval }) => approval.state === 'approved')
    if (!entry) return undefined
    const { id } = entry.approval
    this.#end(entry, { approved: true, reason: '' })
    return { approved: true, reason: '', id, by: entry.by }
  }

  #find(key: string, fits: (entry: Entry) => boolean): Entry | undefined {
    return [...this.#entries.values()].find(entry => entry.key === key && fits(entry))
  }

  /** No single caller may fill the queue. */
  #isFull({ caller, origin }: CallContext): boolean {
    const { maxWaiting = DEFAULT_MAX_WAITING } = this.#options
    const waiting = this.list()
    const own = waiting.filter(other => other.caller === caller && other.origin === origin)
    return waiting.length >= maxWaiting || own.length >= Math.max(1, maxWaiting / 10)
  }

  #create(call: CallContext, asked: Asked): Entry {
    const approval = newApproval(call, asked, this.limitMs(asked.timeoutMs))
    const { id } = approval
    const limitMs = approval.expiresAt - approval.askedAt
    const reason = `nobody answered within ${durationText(limitMs)}`
    const timer = this.#clock.setTimer(() => this.#end(entry, { approved: false, reason, id }), limitMs)
    const entry: Entry = { approval, key: asked.key, timer, settle: undefined }
    this.#entries.set(id, entry)
    return entry
  }

  /** How long an approval waits; the configured time if `timeoutMs` is left out. */
  limitMs(timeoutMs = this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS): number {
    return Math.min(timeoutMs, MAX_TIMER_MS)
  }

  /** The verdict on a call whose approval is shared; its caller is asked too, if still present. */
  #elsewhere(call: CallContext, asked: Asked): Promise<Verdict> | undefined {
    const approval = newApproval(call, asked, this.limitMs(asked.timeoutMs))
    const verdict = this.#shared.request(call, approval)
    if (!verdict) return undefined
    const asking = new AbortController()
    void this.#askThere(call, approval, asking.signal)
    return verdict.finally(() => asking.abort())
  }

  #decideShared(id: string, decision: 'approve' | 'deny', about: Decision): Approval | undefined {
    const approval = this.#shared.decide(id, decision, about)
    if (approval) this.#remembered.note(approval, decision, about, this.#options.onRemember)
    return approval
  }

  /** Holds the call until somebody decides, it expires, its caller gives up, or the caller's patience runs out. */
  #wait(call: CallContext, entry: Entry): Promise<Verdict> {
    const { id } = entry.approval
    const asking = new AbortController()
    return new Promise<Verdict>(resolve => {
      const giveUp = () => this.#end(entry, { approved: false, reason: 'the caller gave up' })
      const settle = (verdict: Verdict) => {
        patience?.cancel()
        // The signal may abort after the call was answered; the approval is still valid then.
        call.signal?.removeEventListener('abort', giveUp)
        entry.settle = undefined
        resolve(verdict)
      }
      const patience = this.#patience(call, () =>
        settle({ approved: false, reason: `waiting for approval ${id}; call again once it is granted`, id }),
      )
      entry.settle = settle
      call.signal?.addEventListener('abort', giveUp, { once: true })
      this.#tell()
      // A listener may have decided synchronously.
      if (this.#entries.has(id)) void this.#askThere(call, entry.approval, asking.signal)
      if (call.signal?.aborted) giveUp()
    }).finally(() => asking.abort())
  }

  #patience(call: CallContext, end: () => void): Timer | undefined {
    const { patienceMs = DEFAULT_PATIENCE_MS } = this.#options
    const limitMs = (patienceMs as Record<string, number>)[call.origin ?? '']
    if (limitMs === undefined) return undefined
    return this.#clock.setTimer(end, limitMs)
  }

  /** Also asks the person behind the call, if the channel allows it. If they do not decide, others still can. */
  async #askThere(call: CallContext, approval: Approval, signal: AbortSignal): Promise<void> {
    try {
      const { tool, args } = approval
      const about = { tool, title: call.tool?.title, args }
      const answer = await call.ask?.({ message: questionOf(approval), about, signal })
      const by = call.origin
      if (answer?.action === 'accept') this.decide(approval.id, 'approve', { by })
      if (answer?.action === 'decline') this.decide(approval.id, 'deny', { by, reason: answer.reason })
    } catch {
      // They could not be asked; others still can.
    }
  }

  #end(entry: Entry, verdict: Verdict): void {
    this.#entries.delete(entry.approval.id)
    entry.timer.cancel()
    entry.settle?.(verdict)
    this.#tell()
  }

  #tell(): void {
    this.#listeners.tell('change', this.list())
  }
}
