import { writeSync } from 'node:fs'
import type { Output } from './output.ts'

const LONG_LINE_BYTES = 20 * 1024 * 1024
const BEFORE = Buffer.from('this is not JSON\n{"type":"delta","messageId":\n\n42\n')
const AFTER = Buffer.from([0xff, 0xfe, 0x80, 0x0a, 0x22, 0xc3, 0x28, 0x22, 0x0a])

/** Faults on request (CORRAL_DEMO_FAULT), to see how what reads the agent takes them. */
export function withFault(output: Output, fault: string | undefined): Output {
  if (fault === 'exit') {
    writeSync(2, 'demo agent: told to fail at once (CORRAL_DEMO_FAULT=exit)\n')
    process.exit(3)
  }
  if (fault === 'deaf') ignoreSignals()
  if (fault === 'garbage') return garbled(output)
  if (fault === 'longline') return lengthy(output)
  return output
}

/** Deaf to signals, and to the wish to stop (`isDeafTo`); it says which signals it has passed over. */
function ignoreSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => writeSync(2, `demo agent: ignored ${signal}\n`))
  }
}

export function isDeafTo(fault: string | undefined, line: { type: string }): boolean {
  return fault === 'deaf' && line.type === 'interrupt'
}

function garbled(output: Output): Output {
  return {
    write: output.write,
    emit(line) {
      output.write(BEFORE)
      output.emit(line)
      output.write(AFTER)
    },
  }
}

function lengthy(output: Output): Output {
  return {
    write: output.write,
    emit(line) {
      output.emit(line)
      if (line.type !== 'accepted') return
      output.write(Buffer.from(`{"type":"padding","data":"${'x'.repeat(LONG_LINE_BYTES)}"}\n`))
    },
  }
}
