import type { Progress as ProgressOf } from 'toolpost/gateway'
import { oneLine } from '../text/visible-text.ts'

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
