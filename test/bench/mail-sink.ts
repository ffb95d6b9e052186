import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { atTheEnd } from './endings.ts'
import { stopProcess } from './rivals.ts'
import type { MailCount, SinkMessage } from './sink.ts'

/** The mail server of the run. */
export type Sink = {
  /** Its SMTP_URL. */
  url: string
  /** What has arrived since the last reset. */
  count: () => Promise<MailCount>
  reset: () => Promise<void>
}

/** Starts the mail server. */
export async function startSink(): Promise<Sink> {
  const child = fork(path.join(import.meta.dirname, 'sink.ts'), { execArgv: [] })
  atTheEnd('the mail server', () => stopProcess(child))
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  const ask = async (request: 'reset' | 'count'): Promise<MailCount> => {
    const answer = once(child, 'message') as Promise<[SinkMessage & { count: MailCount }]>
    child.send(request)
    return (await answer)[0].count
  }
  return {
    url: `smtp://127.0.0.1:${port}`,
    count: () => ask('count'),
    reset: async () => void (await ask('reset')),
  }
}
