import { QueryClient, useQuery } from '@tanstack/react-query'
import type {
  Approval,
  ConversationInfo,
  ModelInfo,
  OpenQuestion,
  ServerStatus,
  ToolInfo,
} from 'toolpost/gateway'
import { currentModel, getCall, listChangedTools, listOf } from './gateway.ts'
import { ApiError, requestJson } from './http.ts'

/** A machine that is offline still reaches a gateway of its own. */
const networkMode = 'always'

/** Events keep the lists up to date, so nothing goes stale by itself. */
export const queryClient = new QueryClient({
  defaultOptions: {
    mutations: { networkMode },
    queries: {
      networkMode,
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      // An unreachable gateway is the business of the event stream, which asks again when it is back.
      retry: (count, error) => !(error instanceof ApiError) && count < 1,
    },
  },
})

const useList = <Entry>(name: string) => useQuery({ queryKey: [name], queryFn: () => listOf<Entry>(name) })

export const useTools = () => useList<ToolInfo>('tools')
export const useServers = () => useList<ServerStatus>('servers')
export const useModels = () => useList<ModelInfo>('models')
export const useConversations = () => useList<ConversationInfo>('conversations')
export const useModel = () => useQuery({ queryKey: ['model'], queryFn: currentModel })
export const useCall = (serial: string | undefined) =>
  useQuery({
    queryKey: ['call', serial],
    queryFn: () => getCall(serial ?? ''),
    enabled: serial !== undefined,
  })
/** Changes with the tools. */
export const useChangedTools = () => useQuery({ queryKey: ['tools', 'changed'], queryFn: listChangedTools })

/** What waits for a person, and which servers are in trouble: not running, or not called because calls failed. */
export function useNeeds() {
  const { data: approvals = [] } = useList<Approval>('approvals')
  const { data: questions = [] } = useList<OpenQuestion>('questions')
  const { data: servers = [] } = useServers()
  const isWell = (server: ServerStatus) => /^(ready|starting|closed)$/.test(server.state) && !pauseOf(server)
  const broken = servers.filter(server => !isWell(server))
  return { approvals, questions, broken }
}

/** Why calls of a server are paused, if they are. */
export const pauseOf = ({ breaker }: ServerStatus) => (breaker?.state === 'closed' ? undefined : breaker)

/** Whether durable calls are on; the view of runs exists only then. */
export function useHasRuns(): boolean {
  const { data } = useQuery({
    queryKey: ['has-runs'],
    queryFn: async () => 'durable' in (await requestJson<object>('/healthz')),
  })
  return data === true
}
