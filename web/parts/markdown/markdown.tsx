import { Component } from 'preact'
import { useRef } from 'preact/hooks'
import { createBlockReader, type Block } from '../../../src/core/markdown/blocks.ts'
import { Code } from './code.tsx'
import { drawn } from './render.ts'

/** What an agent says. `open`: more comes, and only what changes is drawn again. */
export function Markdown({ text, open = false }: { text: string; open?: boolean }) {
  const reader = useRef(createBlockReader())
  const blocks = reader.current.read(text, open)
  return (
    <div class="md">
      {blocks.map((block, at) => (
        <BlockView key={at} block={block} />
      ))}
    </div>
  )
}

class BlockView extends Component<{ block: Block }> {
  override shouldComponentUpdate({ block }: { block: Block }): boolean {
    const { block: before } = this.props
    return block !== before && (block.live !== before.live || block.token.raw !== before.token.raw)
  }

  override render() {
    const { token, live } = this.props.block
    return drawn(token, Code, live)
  }
}
