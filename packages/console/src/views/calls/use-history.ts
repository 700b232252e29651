import { type InfiniteData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { CallPage, CallRecord } from 'toolpost/gateway'
import { useLive } from '../../api/events.ts'
import { type CallFilter, searchCalls } from '../../api/gateway.ts'
import { queryClient } from '../../api/queries.ts'

const PAGE = 200
/** New calls are asked for at most this often: the gateway's history is the only list, also while calls come in. */
const REFRESH_MS = 700

type Pages = InfiniteData<CallPage<CallRecord>, string | undefined>

export type History = ReturnType<typeof useHistory>

/** Finished calls that match, newest first, page by page; new ones appear at the top. */
export function useHistory(filter: CallFilter) {
  const ended = useLive(live => live.ended)
  const name = JSON.stringify(filter)
  useEffect(() => {
    if (ended === 0) return
    const timer = setTimeout(() => void addNewest(JSON.parse(name) as CallFilter), REFRESH_MS)
    return () => clearTimeout(timer)
  }, [ended, name])
  return useInfiniteQuery({
    queryKey: ['calls', filter],
    queryFn: ({ pageParam }) => searchCalls(filter, PAGE, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => page.next,
    select: ({ pages }: Pages) => pages.flatMap(page => page.calls),
    staleTime: 0,
    gcTime: 60_000,
  })
}

/** The last finished calls, always up to date. */
export function useLatestCalls(limit: number) {
  const ended = useLive(live => live.ended)
  return useQuery({
    queryKey: ['calls', 'latest', limit, ended],
    queryFn: async () => (await searchCalls({}, limit)).calls,
    placeholderData: before => before,
  })
}

/** Puts the newest calls in front of those that are shown. */
async function addNewest(filter: CallFilter): Promise<void> {
  const newest = await searchCalls(filter, PAGE).catch(() => undefined)
  if (!newest) return
  queryClient.setQueryData<Pages>(['calls', filter], before => {
    const [first, ...rest] = before?.pages ?? []
    if (!before || !first) return before
    const known = new Set(before.pages.flatMap(page => page.calls.map(({ serial }) => serial)))
    const added = newest.calls.filter(({ serial }) => !known.has(serial))
    // More than a page of new calls: there may be a gap, so the list starts over.
    if (added.length === PAGE) return { pages: [newest], pageParams: [undefined] }
    return { ...before, pages: [{ ...first, calls: [...added, ...first.calls] }, ...rest] }
  })
}
