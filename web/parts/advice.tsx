import { withCommands } from '../state/commands-in.ts'

/** What the daemon advises, in a sentence; what is to be typed looks like it. */
export function Advice({ text }: { text: string }) {
  return (
    <>
      {withCommands(text).map((piece, at) =>
        piece.isCommand ? <code key={at}>{piece.text}</code> : piece.text,
      )}
    </>
  )
}
