import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { CallRecord } from 'toolpost/gateway'
import { useLive } from '../../api/events.ts'
import { type CallFilter, type CallPage, searchCalls } from '../../api/gateway.ts'
import { queryClient } from '../../api/queries.ts'

const PAGE = 200
/** New calls are asked for at most this often: the gateway's history is the only list, also while calls come in. */
const REFRESH_MS = 700

export interface History {
  calls: CallRecord[]
  isPending: boolean
  error: Error | null
  hasMore: boolean
  loadMore: () => void
}

/** Finished calls that match, newest first, page by page; new ones appear at the top. */
export function useHistory(filter: CallFilter): History {
  const key = ['calls', filter]
  const query = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => searchCalls(filter, PAGE, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => page.next,
    staleTime: 0,
    gcTime: 60_000,
  })
  const ended = useLive(live => live.ended)
  const name = JSON.stringify(filter)
  useEffect(() => {
    if (ended === 0) return
    const timer = setTimeout(() => void addNewest(JSON.parse(name) as CallFilter), REFRESH_MS)
    return () => clearTimeout(timer)
  }, [ended, name])
  return {
    calls: query.data?.pages.flatMap(page => page.calls) ?? [],
    isPending: query.isPending,
    error: query.error,
    hasMore: query.hasNextPage,
    loadMore: () => void (query.isFetching || query.fetchNextPage()),
  }
}

type Pages = InfiniteData<CallPage, string | undefined>

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
