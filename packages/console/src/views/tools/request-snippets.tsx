import type { ToolResult } from 'toolpost/gateway'
import { currentToken } from '../../api/token.ts'
import { asCommand, asCurl, asTest, asTypeScript } from '../../text/snippets.ts'
import { CodeBlock, SaveButton } from '../../ui/code.tsx'
import { Tabs } from '../../ui/tabs.tsx'

interface Props {
  tool: string
  args: unknown
  /** What came back; a test expects the same. */
  result?: ToolResult | undefined
}

/** The same call from elsewhere: command line, curl, TypeScript, and as a test. */
export function RequestSnippets({ tool, args, result }: Props) {
  const options = { tool, args, origin: location.origin, withToken: currentToken() !== undefined, result }
  const tab = (value: string, label: string, text: string) => ({
    value,
    label,
    content: <CodeBlock text={text} label={label} />,
  })
  return (
    <Tabs
      label="The request as"
      tabs={[
        tab('cli', 'Command line', asCommand(options)),
        tab('curl', 'curl', asCurl(options)),
        tab('ts', 'TypeScript', asTypeScript(options)),
      ]}
      action={
        <SaveButton
          content={() => asTest(options)}
          name={`${tool.replace(/[^\w-]+/g, '-').slice(0, 60) || 'call'}.test.mjs`}
          label="Save as a test"
        />
      }
    />
  )
}
