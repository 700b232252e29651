import { useState } from 'react'
import { Problem } from '../../components/problem.tsx'
import { Viewer } from '../../components/viewer/viewer.tsx'
import { messageOf } from '../../text/message-of.ts'

/** The outcome of trying something. */
export type TrialOutcome =
  | { state: 'busy' }
  | { state: 'done'; value: unknown }
  | { state: 'failed'; why: string }

export function useTrial(action: () => Promise<unknown>) {
  const [outcome, setOutcome] = useState<TrialOutcome>()
  const run = async () => {
    setOutcome({ state: 'busy' })
    try {
      setOutcome({ state: 'done', value: await action() })
    } catch (error) {
      setOutcome({ state: 'failed', why: messageOf(error) })
    }
  }
  return { outcome, run }
}

export function Outcome({ outcome, label }: { outcome: TrialOutcome | undefined; label: string }) {
  if (outcome === undefined) return null
  if (outcome.state === 'busy') return <p className="muted">Asking the server …</p>
  if (outcome.state === 'failed') return <Problem text={outcome.why} />
  return <Viewer value={shown(outcome.value)} label={label} />
}

/** A single text is unwrapped; prompts and multiple parts are shown unchanged. */
function shown(value: unknown): unknown {
  const [only, ...others] = Array.isArray(value) ? value : [value]
  if (others.length > 0 || typeof only !== 'object' || only === null) return value
  return 'text' in only && typeof only.text === 'string' ? only.text : value
}
