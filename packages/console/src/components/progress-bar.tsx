import type { Progress } from 'toolpost/gateway'
import { oneLine } from '../text/visible-text.ts'

/** A progress bar with its message; indeterminate without a total. */
export function ProgressBar({ progress, label }: { progress: Progress | undefined; label: string }) {
  const share = shareOf(progress)
  const message = progress?.message ? oneLine(progress.message, 200) : undefined
  return (
    <div className="progress">
      <div
        className={`progress-track ${share === undefined ? 'progress-open' : ''}`}
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        {...(share !== undefined && { 'aria-valuenow': Math.round(share * 100) })}
        {...(message !== undefined && { 'aria-valuetext': message })}
      >
        <span
          className="progress-fill"
          style={share === undefined ? undefined : { width: `${(share * 100).toFixed(1)}%` }}
        />
      </div>
      {progress && (
        <p className="progress-text muted">
          {share !== undefined && <span className="figure">{Math.round(share * 100)} %</span>} {message}
        </p>
      )}
    </div>
  )
}

/** From 0 to 1, if known. */
function shareOf({ progress, total }: Partial<Progress> = {}): number | undefined {
  if (progress === undefined || total === undefined || !(total > 0)) return undefined
  return Math.min(1, Math.max(0, progress / total))
}
