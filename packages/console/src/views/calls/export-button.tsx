import { useState } from 'react'
import { exportCalls } from '../../api/gateway-api.ts'
import { Button } from '../../components/button.tsx'
import type { CallFilter } from '../../state/call-list.ts'
import { oneLine } from '../../text/visible-text.ts'
import { historyQuery } from './use-older-calls.ts'

/** All calls that the filters let through, also those that the page does not show, as a file. */
export function ExportButtons({ filter }: { filter: CallFilter }) {
  const [problem, setProblem] = useState<string>()
  const save = async (format: 'csv' | 'jsonl') => {
    try {
      const blob = await exportCalls(historyQuery(filter), format)
      setProblem(undefined)
      download(blob, `calls.${format}`)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <>
      {problem !== undefined && (
        <span className="field-problem" role="alert">
          {oneLine(problem)}
        </span>
      )}
      <Button look="quiet" icon="download" onClick={() => void save('csv')}>
        CSV
      </Button>
      <Button look="quiet" icon="download" onClick={() => void save('jsonl')}>
        JSON Lines
      </Button>
    </>
  )
}

function download(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
