import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'

/** How many of `total` to show, `step` more at a time, and the button for more. */
export function useShowMore(total: number, step: number): [limit: number, more: ReactNode] {
  const [limit, setLimit] = useState(step)
  const more = total > limit && (
    <Button onClick={() => setLimit(limit + step)}>Show {Math.min(step, total - limit)} more</Button>
  )
  return [limit, more]
}

interface GrowProps {
  limit: number
  most: number
  /** Shown once `most` is reached. */
  end: string
  onLimit: (limit: number) => void
}

/** Shows five times as much of something long, up to `most`. */
export function ShowLonger({ limit, most, end, onLimit }: GrowProps) {
  if (limit >= most) return <p className="muted">{end}</p>
  return (
    <Button look="quiet" onClick={() => onLimit(Math.min(most, limit * 5))}>
      Show more
    </Button>
  )
}
