import { type RefObject, useEffect, useState } from 'react'

/** The height of a row; rows never wrap. */
export const ROW_PX = 24
/** Rows rendered above and below the visible ones. */
const MARGIN = 20

/** Which of `count` rows are visible in the scrolling box. */
export function useWindow(box: RefObject<HTMLElement | null>, count: number): { from: number; to: number } {
  const [place, setPlace] = useState({ top: 0, height: 600 })
  useEffect(() => {
    const element = box.current
    if (element === null) return
    const look = () => setPlace({ top: element.scrollTop, height: element.clientHeight || 600 })
    const observer = new ResizeObserver(look)
    observer.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [box])
  const from = Math.max(0, Math.min(Math.floor(place.top / ROW_PX), count) - MARGIN)
  return { from, to: Math.min(count, Math.ceil((place.top + place.height) / ROW_PX) + MARGIN) }
}
