// node .ci/side-by-side.ts <script>…: runs scripts of package.json at once, each on the processors that others leave idle, and says what each
// has said when it is over. Fails when one of them does.
import { spawn } from 'node:child_process'
import { once } from 'node:events'

await Promise.all(
  process.argv.slice(2).map(async (script) => {
    const child = spawn('npm', ['run', script], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    const [code] = await once(child, 'close')
    process.stdout.write(output)
    if (code !== 0) {
      process.stdout.write(`FAILED: npm run ${script}\n`)
      process.exitCode = 1
    }
  }),
)
