// node .ci/run-parallel.ts <script>…: runs scripts of package.json in parallel and prints the output of each when it ends. Fails if one fails.
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
