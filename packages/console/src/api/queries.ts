import { QueryClient, useQuery } from '@tanstack/react-query'
import {
  currentModel,
  listApprovals,
  listChangedTools,
  listConversations,
  listModels,
  listQuestions,
  listServers,
  listTools,
} from './gateway.ts'
import { ApiError, requestJson } from './http.ts'

/** Events keep the lists up to date, so nothing goes stale by itself. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      // An unreachable gateway is the business of the event stream, which asks again when it is back.
      retry: (count, error) => !(error instanceof ApiError) && count < 1,
    },
  },
})

export const useTools = () => useQuery({ queryKey: ['tools'], queryFn: listTools })
/** Changes with the tools. */
export const useChangedTools = () =>
  useQuery({ queryKey: ['tools', 'changed'], queryFn: listChangedTools, retry: false })
export const useServers = () => useQuery({ queryKey: ['servers'], queryFn: listServers })
export const useApprovals = () => useQuery({ queryKey: ['approvals'], queryFn: listApprovals })
export const useQuestions = () => useQuery({ queryKey: ['questions'], queryFn: listQuestions })
export const useModel = () => useQuery({ queryKey: ['model'], queryFn: currentModel })
export const useModels = () => useQuery({ queryKey: ['models'], queryFn: listModels })
export const useConversations = () => useQuery({ queryKey: ['conversations'], queryFn: listConversations })

/** Whether durable calls are on; the view of runs exists only then. */
export function useHasRuns(): boolean {
  const { data } = useQuery({
    queryKey: ['has-runs'],
    queryFn: async () => 'durable' in (await requestJson<object>('/healthz')),
  })
  return data === true
}
