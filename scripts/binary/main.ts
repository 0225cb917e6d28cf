/** What the single executable runs: Corral, or the demo agent when the daemon starts it as that (src/agents/demo/driver.ts). */
if (process.argv[2] === '@demo') {
  process.argv.splice(2, 1)
  void import('../../src/agents/demo/main.ts')
} else {
  void import('../../src/cli/run.ts').then(async ({ run }) => {
    process.exitCode = await run(process.argv.slice(2))
  })
}
