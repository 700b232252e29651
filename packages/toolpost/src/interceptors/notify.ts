import { createHmac } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { loadOptional } from '../util/package-root.ts'
import { describeThrown } from '../util/quietly.ts'
import { type Approval, questionOf } from './approval.ts'

/** Where to report waiting calls: a webhook, whose requests are signed with `secret`, and an MQTT topic. */
export interface NotifyConfig {
  url?: string
  secret?: string
  mqtt?: { url: string; topic: string; username?: string; password?: string }
}

interface NotifierOptions {
  settings(): NotifyConfig | undefined
  /** The running gateway, where a person can decide. */
  gateway(): { url: string } | undefined
  /** Aborted when nothing is to be reported any more. */
  closing: AbortSignal
  report(warning: string): void
}

/** Longer questions are not sent: nobody could decide about what they cannot read. */
const MAX_SENT_QUESTION_BYTES = 2_000
const RETRY_AFTER_MS = [0, 1_000, 5_000, 25_000]
const TIMEOUT_MS = 10_000

/** Reports calls that wait for a person to a webhook and an MQTT topic, without holding anything up. */
export function notifier({ settings, gateway, closing, report }: NotifierOptions) {
  let known = new Set<string>()
  const send = async (deliver: (signal: AbortSignal) => Promise<void>) => {
    for (const delayMs of RETRY_AFTER_MS) {
      try {
        await pause(delayMs, undefined, { signal: closing, ref: false })
        return await deliver(AbortSignal.any([closing, AbortSignal.timeout(TIMEOUT_MS)]))
      } catch (error) {
        const warning = `a waiting call could not be reported: ${describeThrown(error)}`
        if (delayMs === RETRY_AFTER_MS.at(-1) && !closing.aborted) report(`⚠️ approvals.notify: ${warning}`)
      }
    }
  }
  return (waiting: readonly Approval[]) => {
    const { url, secret = '', mqtt } = settings() ?? {}
    const added = waiting.filter(({ id }) => !known.has(id))
    known = new Set(waiting.map(({ id }) => id))
    for (const approval of url || mqtt ? added : []) {
      const body = JSON.stringify(messageAbout(approval, gateway()))
      if (url) void send(signal => post(url, body, secret, signal))
      if (mqtt) void send(() => publish(mqtt, body))
    }
  }
}

function messageAbout(approval: Approval, gateway?: { url: string }): object {
  const { state: _, definition: __, scopes: ___, args: ____, ...about } = approval
  const question = questionOf(approval)
  const isShort = Buffer.byteLength(question) <= MAX_SENT_QUESTION_BYTES
  const shown = isShort ? question : 'A call is too long to be shown here: look at it in the console'
  return { question: shown, ...about, ...(gateway && { link: `${gateway.url}/#/approvals` }) }
}

async function post(url: string, body: string, secret: string, signal: AbortSignal): Promise<void> {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  const headers = { 'content-type': 'application/json', 'x-toolpost-signature': signature }
  const { ok, status } = await fetch(url, { method: 'POST', body, headers, signal, redirect: 'error' })
  if (!ok) throw new Error(`it answered ${status}`)
}

/** Calls wait rarely: a connection for each is simpler than one that is kept. */
async function publish({ url, topic, ...login }: NonNullable<NotifyConfig['mqtt']>, body: string) {
  const { connectAsync } = await loadOptional('approvals.notify.mqtt', ['mqtt'], () => import('mqtt'))
  const options = { ...login, reconnectPeriod: 0, connectTimeout: TIMEOUT_MS, log: () => {} }
  const client = await connectAsync(url, options, false)
  await client.publishAsync(topic, body, { qos: 1 }).finally(() => client.endAsync(true))
}
