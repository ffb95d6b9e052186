import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export type ReceivedMail = { envelope: { from: string; to: string[] }; raw: string; parsed: Email }

export type SmtpListener = {
  url: string
  /** All mails accepted so far, oldest first. */
  mails: ReceivedMail[]
  /** Waits until this many mails have been accepted in total. */
  waitFor: (count: number) => Promise<ReceivedMail[]>
  close: () => Promise<void>
}

/** Starts a real SMTP server on loopback that keeps the mails that it accepts. @param behavior overrides its responses. */
export async function startSmtpListener(behavior: SMTPServerOptions = {}, listenOn = 0): Promise<SmtpListener> {
  const mails: ReceivedMail[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk) => chunks.push(chunk))
      stream.on('end', async () => {
        const raw = Buffer.concat(chunks).toString('utf8')
        const { mailFrom, rcptTo } = session.envelope
        const envelope = { from: mailFrom ? mailFrom.address : '', to: rcptTo.map(({ address }) => address) }
        mails.push({ envelope, raw, parsed: await PostalMime.parse(raw) })
        for (const waiter of waiting) if (mails.length >= waiter.count) waiter.resolve()
        callback()
      })
    },
    ...behavior,
  })
  server.on('error', () => {}) // a client disconnected
  server.listen(listenOn, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    async waitFor(count) {
      if (mails.length < count) await new Promise<void>((resolve) => waiting.push({ count, resolve }))
      return mails
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
