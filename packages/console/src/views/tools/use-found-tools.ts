import { useEffect, useMemo, useState } from 'react'
import type { ToolInfo } from 'toolpost/gateway'
import { rankedToolNames } from '../../api/tools-api.ts'
import { ranked, searchTools } from './search-tools.ts'

const PAUSE_MS = 150

/** The matching tools: from the page's own search immediately, then in the order of the gateway's ranking. */
export function useFoundTools(tools: readonly ToolInfo[], query: string): ToolInfo[] {
  const [answer, setAnswer] = useState<{ query: string; names: string[] }>()
  const words = query.trim()
  useEffect(() => {
    if (words === '') return
    const controller = new AbortController()
    const ask = async () => {
      const names = await rankedToolNames(words, controller.signal)
      if (names && !controller.signal.aborted) setAnswer({ query: words, names })
    }
    const timer = setTimeout(() => void ask(), PAUSE_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [words])
  return useMemo(() => {
    const found = searchTools(tools, words)
    return answer?.query === words && words !== '' ? ranked(tools, found, answer.names) : found
  }, [tools, words, answer])
}
