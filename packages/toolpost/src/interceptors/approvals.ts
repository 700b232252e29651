import { randomUUID } from 'node:crypto'
import type { CallContext } from '../executor/context.ts'
import { type PlainLimits, plainCopy } from '../logging/plain-value.ts'
import { KNOWN_ONLY } from '../logging/redact.ts'
import { type Clock, MAX_TIMER_MS, systemClock, type Timer } from '../util/clock.ts'
import { Listeners, quietly } from '../util/quietly.ts'
import { shortText } from '../util/text.ts'
import type { Approval, Decision, RememberedDecision, SharedApprovals, Verdict } from './approval.ts'
import { isAbout, keyOf, questionOf, toolAsked } from './approval.ts'

const MAX_SHOWN_BYTES = 20_000
const MAX_REASON_CHARACTERS = 1_000
/**
 * The arguments as the approver sees them. Nothing is shortened, and only the values of configured secrets are removed:
 * text that merely resembles a secret may be the dangerous part. Control characters are left to each display.
 */
const SHOWN: PlainLimits = {
  maxDepth: 100,
  maxEntries: MAX_SHOWN_BYTES,
  maxBytes: MAX_SHOWN_BYTES,
  maxValues: MAX_SHOWN_BYTES,
  cleaner: KNOWN_ONLY,
}

export interface ApprovalsOptions {
  /** How long an approval waits, and how long a granted one may be used. */
  timeoutMs?: number | undefined
  /** How long calls of an origin are held. After that they fail with a note that they are waiting, and may be repeated. */
  patienceMs?: Readonly<Record<string, number>> | undefined
  remembered?: readonly RememberedDecision[] | undefined
  /** Stores a decision permanently. If it throws or rejects, the decision holds until the process ends. */
  onRemember?: ((decision: RememberedDecision) => void | Promise<void>) | undefined
  /** Calls that need no approval; remembered decisions take precedence. */
  isApproved?: ((call: CallContext) => boolean) | undefined
  clock?: Clock | undefined
}

const DEFAULT_TIMEOUT_MS = 5 * 60_000
/** Calls beyond these are refused: no single caller may fill the queue. */
const MAX_WAITING = 1_000
const MAX_WAITING_OF_CALLER = 100
const CLOSED = 'Toolpost is shutting down'
/** Most MCP clients give up after a minute, and a model's answer has two minutes in total. */
const DEFAULT_PATIENCE_MS = { mcp: 45_000, chat: 90_000, voice: 90_000 }

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
  readonly #listeners = new Listeners<{ change: Approval[] }>(() => {})
  readonly #clock: Clock
  #options: ApprovalsOptions
  /** Decisions that apply to later calls, newest first, and those of them that their owner stores. */
  #remembered: readonly RememberedDecision[]
  readonly #stored: WeakSet<RememberedDecision>
  #sharing: SharedApprovals | undefined
  #isClosed = false
  #shared: readonly Approval[] = []

  constructor(options: ApprovalsOptions = {}) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#remembered = options.remembered ?? []
    this.#stored = new WeakSet(this.#remembered)
  }

  /** Changes the options for later calls. Waiting calls keep waiting, and decisions for the session stay. */
  update(options: Pick<ApprovalsOptions, 'timeoutMs' | 'remembered' | 'isApproved'>): void {
    const { remembered = [] } = options
    this.#options = { ...this.#options, ...options }
    this.#remembered = [...this.#remembered.filter(decision => !this.#stored.has(decision)), ...remembered]
    for (const decision of remembered) this.#stored.add(decision)
  }

  /** The approvals waiting for a decision, oldest first. */
  list(): Approval[] {
    const own = [...this.#entries.values()].map(entry => entry.approval)
    const waiting = [...own.filter(({ state }) => state === 'waiting'), ...this.#shared]
    return waiting.sort((a, b) => a.askedAt - b.askedAt)
  }

  /** Delegates the calls that `sharing` is responsible for; returns a function that ends this. */
  share = (sharing: SharedApprovals): (() => void) => {
    this.#sharing = sharing
    return () => {
      this.#sharing = undefined
      this.showShared([])
    }
  }

  /** Updates the list of approvals shared with other processes. */
  showShared = (approvals: readonly Approval[]): void => {
    this.#shared = approvals
    this.#tell()
  }

  /** Calls `listener` with the waiting approvals whenever they change; returns a function that unsubscribes it. */
  onChange(listener: (waiting: Approval[]) => void): () => void {
    return this.#listeners.on('change', listener)
  }

  /** Decides; `undefined` if nothing waits under that id: already decided, expired or never asked. */
  decide(id: string, decision: 'approve' | 'deny', about: Decision = {}): Approval | undefined {
    const { by } = about
    const usual = by === undefined ? 'denied by the user' : `denied by the user (${by})`
    const reason = shortText(about.reason ?? usual, MAX_REASON_CHARACTERS)
    const entry = this.#entries.get(id)
    const approval = entry?.approval ?? this.#shared.find(each => each.id === id)
    if (approval?.state !== 'waiting') return undefined
    this.#remember(approval, decision, about)
    // If a shared decision cannot be stored, the call keeps waiting and stays listed.
    if (!entry) this.#sharing?.decide(id, decision, about).catch(() => {})
    else if (decision === 'deny') this.#end(entry, { approved: false, reason, id, by })
    else if (entry.settle) this.#end(entry, { approved: true, reason: '', id, by })
    else {
      // Its call is no longer waiting, and may be repeated.
      Object.assign(entry, { approval: { ...approval, state: 'approved' }, by })
      this.#tell()
    }
    return { ...approval, state: decision === 'approve' ? 'approved' : 'denied' }
  }

  /** Whether an earlier decision covers the call, so that nobody has to be asked. */
  isDecided(call: CallContext): boolean {
    return this.#decided(call) !== undefined
  }

  #decided(call: CallContext): Verdict | undefined {
    const known = this.#remembered.find(decision => isAbout(decision, call))
    if (known) return { approved: known.then === 'allow', reason: known.because, by: 'remembered' }
    return this.#options.isApproved?.(call) ? { approved: true, reason: '', by: 'autoApprove' } : undefined
  }

  /** Asks on every available channel whether a call may run. Never rejects. */
  async request(call: CallContext, because?: string, timeoutMs?: number): Promise<Verdict> {
    const key = keyOf(call)
    if (this.#isClosed) return { approved: false, reason: CLOSED }
    if (key === undefined) return { approved: false, reason: 'its arguments cannot be displayed' }
    const decided = this.#decided(call)
    if (decided) return decided
    const granted = this.#find(key, ({ approval }) => approval.state === 'approved')
    if (granted) {
      this.#end(granted, { approved: true, reason: '' })
      return { approved: true, reason: '', id: granted.approval.id, by: granted.by }
    }
    const shown = plainCopy(call.args, SHOWN)
    if (!shown.isComplete || shown.bytes > MAX_SHOWN_BYTES)
      return { approved: false, reason: 'its arguments are too large to display' }
    if (this.#isFull(call)) return { approved: false, reason: 'too many calls are waiting for approval' }
    const { name: tool, origin, caller } = call
    const askedAt = Date.now()
    const approval: Approval = {
      ...{ id: randomUUID(), tool, args: shown.value, origin, caller, because, ...toolAsked(call) },
      ...{ askedAt, expiresAt: askedAt + this.limitMs(timeoutMs), state: 'waiting' },
    }
    const verdict = await (this.#askElsewhere(call, approval) ??
      this.#wait(call, this.#find(key, ({ settle }) => !settle) ?? this.#create(approval, key)))
    // The caller still holds the arguments and could have changed them since.
    if (verdict.approved && keyOf(call) !== key)
      return { ...verdict, approved: false, reason: 'its arguments were changed while it waited' }
    return verdict
  }

  /** How long an approval waits; the configured time if `timeoutMs` is left out. */
  limitMs(timeoutMs = this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS): number {
    return Math.min(timeoutMs, MAX_TIMER_MS)
  }

  /** Denies everything that is waiting, and whatever is asked from now on. */
  close(): void {
    this.#isClosed = true
    for (const entry of [...this.#entries.values()]) this.#end(entry, { approved: false, reason: CLOSED })
  }

  /** Applies the decision to later calls of this tool and caller, if `about` says so. */
  #remember(approval: Approval, decision: 'approve' | 'deny', { by, remember, scope }: Decision): void {
    if (!remember) return
    const { server, origin, caller, definition } = approval
    const tool = scope === 'server' && server !== undefined ? '*' : approval.tool
    const isApproved = decision === 'approve'
    const because = `${isApproved ? 'approved' : 'denied'}${by ? ` by ${by}` : ''}, remembered`
    const then = isApproved ? ('allow' as const) : ('deny' as const)
    // A denial stays whatever the tool turns into.
    const pinned = isApproved && tool !== '*' ? definition : undefined
    const remembered = { tool, server, origin, caller, then, because, definition: pinned }
    this.#remembered = [remembered, ...this.#remembered]
    const { onRemember } = this.#options
    if (remember !== 'always' || !onRemember) return
    this.#stored.add(remembered)
    quietly(
      () => onRemember(remembered),
      () => this.#stored.delete(remembered),
    )
  }

  #find(key: string, fits: (entry: Entry) => boolean): Entry | undefined {
    return [...this.#entries.values()].find(entry => entry.key === key && fits(entry))
  }

  #isFull({ caller, origin }: CallContext): boolean {
    const waiting = this.list()
    const own = waiting.filter(other => other.caller === caller && other.origin === origin)
    return waiting.length >= MAX_WAITING || own.length >= MAX_WAITING_OF_CALLER
  }

  #create(approval: Approval, key: string): Entry {
    const { id, askedAt, expiresAt } = approval
    const limitMs = expiresAt - askedAt
    const limit = limitMs % 60_000 === 0 ? `${limitMs / 60_000} min` : `${limitMs / 1_000} s`
    const reason = `nobody answered within ${limit}`
    const timer = this.#clock.setTimer(() => this.#end(entry, { approved: false, reason, id }), limitMs)
    const entry: Entry = { approval, key, timer, settle: undefined }
    this.#entries.set(id, entry)
    return entry
  }

  /** The verdict on a call whose approval is shared; its caller is asked too, if still present. */
  #askElsewhere(call: CallContext, approval: Approval): Promise<Verdict> | undefined {
    const verdict = this.#sharing?.request(call, approval)
    if (!verdict) return undefined
    const asking = new AbortController()
    void this.#askCaller(call, approval, asking.signal)
    return verdict.finally(() => asking.abort())
  }

  /** Holds the call until somebody decides, it expires, its caller gives up, or the caller's patience runs out. */
  #wait(call: CallContext, entry: Entry): Promise<Verdict> {
    const { id } = entry.approval
    const { patienceMs = DEFAULT_PATIENCE_MS } = this.#options
    const limitMs = (patienceMs as Record<string, number>)[call.origin ?? '']
    const asking = new AbortController()
    return new Promise<Verdict>(resolve => {
      const giveUp = () => this.#end(entry, { approved: false, reason: 'the caller gave up' })
      const settle = (verdict: Verdict) => {
        patience?.cancel()
        // The signal may abort after the call was answered; the approval is still valid then.
        call.signal.removeEventListener('abort', giveUp)
        entry.settle = undefined
        resolve(verdict)
      }
      const reason = `waiting for approval ${id}; call again once it is granted`
      const patience =
        limitMs === undefined
          ? undefined
          : this.#clock.setTimer(() => settle({ approved: false, reason, id }), limitMs)
      entry.settle = settle
      call.signal.addEventListener('abort', giveUp, { once: true })
      this.#tell()
      // A listener may have decided synchronously.
      if (this.#entries.has(id)) void this.#askCaller(call, entry.approval, asking.signal)
      if (call.signal.aborted) giveUp()
    }).finally(() => asking.abort())
  }

  /** Also asks the person behind the call, if the channel allows it. If they do not decide, others still can. */
  async #askCaller(call: CallContext, approval: Approval, signal: AbortSignal): Promise<void> {
    try {
      const { tool, args } = approval
      const about = { tool, server: approval.server, title: call.tool?.title, args }
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
