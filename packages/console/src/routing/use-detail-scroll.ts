import { useEffect, useRef } from 'react'
import type { Route } from './route.ts'

/** Up to this width, a detail replaces its list. */
const REPLACES_LIST = '(max-width: 1080px)'

/** A detail that replaces its list starts at the top; going back restores the list's scroll position. */
export function useDetailScroll(route: Route): void {
  const detail = detailOf(route)
  const shown = useRef(detail)
  const listAt = useRef(0)
  useEffect(() => {
    const note = () => {
      if (shown.current === undefined) listAt.current = scrollY
    }
    addEventListener('scroll', note, { passive: true })
    return () => removeEventListener('scroll', note)
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another view starts at the top anyway
  useEffect(() => {
    listAt.current = 0
  }, [route.view])
  useEffect(() => {
    if (shown.current === detail) return
    shown.current = detail
    if (matchMedia(REPLACES_LIST).matches) scrollTo(0, detail === undefined ? listAt.current : 0)
  }, [detail])
}

function detailOf(route: Route): string | undefined {
  if (route.view === 'calls') return route.serial
  if (route.view === 'tools') return route.tool
  return route.view === 'runs' ? route.id : undefined
}
