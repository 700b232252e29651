import type { ReactNode } from 'react'
import type { CallRecord } from 'toolpost/gateway'
import { hrefTo } from '../../router.ts'
import { callWords } from '../../text/call-words.ts'
import { whenText } from '../../text/figures.ts'

/** A call in a short list, as a link; `children` say how it ended. */
export function CallRow({ call, children }: { call: CallRecord; children: ReactNode }) {
  return (
    <li>
      <a href={hrefTo(['calls', call.serial])} className="row px-3 py-1.5 hover:bg-raised">
        <span className="w-20 shrink-0 text-xs text-muted tabular-nums">{whenText(call.startedAt)}</span>
        <span className="min-w-0 flex-1 truncate">{callWords(call.tool, call.args)}</span>
        {children}
      </a>
    </li>
  )
}
