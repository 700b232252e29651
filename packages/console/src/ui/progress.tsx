import type { ReactNode } from 'react'
import type { Progress as ProgressOf } from 'toolpost/gateway'
import { oneLine } from '../text/visible-text.ts'
import { Spinner, useNow } from './controls.tsx'

/** What a tool says about its progress; nothing if it says nothing. */
export function Progress({ progress, label }: { progress: ProgressOf | undefined; label: string }) {
  if (!progress) return null
  const { progress: done, total, message } = progress
  const share = total ? Math.min(1, Math.max(0, done / total)) : undefined
  return (
    <div className="flex flex-col gap-1">
      {share !== undefined && (
        <div
          role="progressbar"
          aria-label={label}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(share * 100)}
          className="h-1.5 overflow-hidden rounded bg-raised"
        >
          <div className="h-full bg-accent" style={{ width: `${share * 100}%` }} />
        </div>
      )}
      <p className="text-xs text-muted">
        {[message && oneLine(String(message), 200), total ? `${done} of ${total}` : String(done)]
          .filter(Boolean)
          .join(' · ')}
      </p>
    </div>
  )
}

interface RunningProps {
  startedAt: number
  progress: ProgressOf | undefined
  children?: ReactNode
}

/** A call under way: for how long, and its progress. */
export function Running({ startedAt, progress, children }: RunningProps) {
  const seconds = Math.max(0, useNow(100) - startedAt) / 1_000
  return (
    <div className="flex flex-col gap-2">
      <div className="row">
        <Spinner label="Running" />
        <span className="tabular-nums text-muted" aria-hidden="true">
          {seconds.toFixed(1)} s
        </span>
        {children}
      </div>
      <Progress progress={progress} label="Progress of the call" />
    </div>
  )
}
