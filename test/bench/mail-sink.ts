import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { atTheEnd } from './endings.ts'
import { stopProcess } from './rivals.ts'
import type { SinkCount, SinkMessage } from './sink.ts'

/** Where the run's mails and webhooks go. */
export type Sink = {
  /** Its SMTP_URL. */
  url: string
  /** Where it takes webhooks. */
  hooksUrl: string
  /** What has arrived since the last reset. */
  count: () => Promise<SinkCount>
  reset: () => Promise<void>
}

/** Starts it. */
export async function startSink(): Promise<Sink> {
  const child = fork(path.join(import.meta.dirname, 'sink.ts'), { execArgv: [] })
  atTheEnd('the mail server', () => stopProcess(child))
  const [{ port, hooksPort }] = (await once(child, 'message')) as [{ port: number; hooksPort: number }]
  const ask = async (request: 'reset' | 'count'): Promise<SinkCount> => {
    const answer = once(child, 'message') as Promise<[SinkMessage & { count: SinkCount }]>
    child.send(request)
    return (await answer)[0].count
  }
  return {
    url: `smtp://127.0.0.1:${port}`,
    hooksUrl: `http://127.0.0.1:${hooksPort}/`,
    count: () => ask('count'),
    reset: async () => void (await ask('reset')),
  }
}
