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
