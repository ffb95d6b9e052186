import type { ImapFlow, ImapFlowError } from 'imapflow'
import { withoutAddresses } from '../../domain/mails/mail-outage.ts'

/** Where notices are fetched from. */
export type ImapAddress = {
  host: string
  port: number | undefined
  /** Whether it begins encrypted; otherwise it is encrypted before the login (STARTTLS), or there is none. */
  isSecure: boolean
  user: string
  password: string
  folder: string
  tls: { servername?: string; rejectUnauthorized?: boolean }
}

/** Does something with the start of a mail. @returns whether it is dealt with; another's is left as it is. */
export type TakeMail = (start: Buffer) => Promise<boolean>

export type BounceMailbox = {
  /**
   * Hands each unread mail over, and marks those as read that are dealt with; others are looked at once by each process.
   *
   * @param isOver whether to leave the rest for the next time.
   * @returns how many were dealt with.
   * @throws Error when the server is away, or does not do as it has to; what `take` throws.
   */
  takeUnread: (take: TakeMail, isOver: () => boolean) => Promise<number>
  /** Logs in, and opens the folder. @returns how many mails in it are unread. @throws Error. */
  countUnread: () => Promise<number>
  /** Ends what is under way. */
  close: () => void
}

/** Of a mail that is longer only the start is read: what a notice says stands before the mail that it is of. */
const MAX_BYTES = 256 * 1024
/** Mails in memory at a time. */
const AT_ONCE = 20
/** Milliseconds. */
const PATIENCE = { connectionTimeout: 30_000, greetingTimeout: 30_000, socketTimeout: 60_000 }

/** The folder of notices, of which nothing else is opened. */
export function createBounceMailbox(address: ImapAddress): BounceMailbox {
  const open = new Set<ImapFlow>()
  /** All that is unread up to there is another's. A folder that is made anew begins with 1 again. */
  let lookedAt = { uidValidity: 0n, uid: 0 }
  const use = <T>(work: (client: ImapFlow) => Promise<T>) => useClient(address, open, work)
  return {
    async takeUnread(take, isOver) {
      let refused: unknown
      const taking: TakeMail = (start) =>
        take(start).catch((error) => {
          refused = error
          throw error
        })
      let taken = 0
      await use(async (client) => {
        const { uidValidity } = client.mailbox as { uidValidity: bigint }
        if (lookedAt.uidValidity !== uidValidity) lookedAt = { uidValidity, uid: 0 }
        const unread = await findUnread(client, lookedAt.uid)
        for (let i = 0; i < unread.length && !isOver(); i += AT_ONCE) {
          const uids = unread.slice(i, i + AT_ONCE)
          taken += await takeMails(client, uids, taking)
          lookedAt.uid = uids.at(-1)!
        }
      }).catch((error) => {
        throw refused ?? error
      })
      return taken
    },
    countUnread: () => use(async (client) => (await findUnread(client, 0)).length),
    close: () => {
      for (const client of open) client.close()
    },
  }
}

/** `n:*` always has the last one in it, however low its number. */
async function findUnread(client: ImapFlow, after: number): Promise<number[]> {
  const found = await client.search({ seen: false, uid: `${after + 1}:*` }, { uid: true })
  if (!found) throw Object.assign(new Error('The server does not say which mails are unread'), { code: 'NoSearch' })
  return found.filter((uid) => uid > after).sort((one, other) => one - other)
}

/** They are marked once they are kept: what is lost between the two is fetched again, and known by then. */
async function takeMails(client: ImapFlow, uids: number[], take: TakeMail): Promise<number> {
  const taken: number[] = []
  for (const { uid, source } of await client.fetchAll(uids, { uid: true, source: { maxLength: MAX_BYTES } }, { uid: true }))
    if (source && (await take(source))) taken.push(uid)
  if (taken.length > 0 && !(await client.messageFlagsAdd(taken, ['\\Seen'], { uid: true })))
    throw Object.assign(new Error('What was read can not be marked as read'), { code: 'ReadOnly' })
  return taken.length
}

async function useClient<T>(address: ImapAddress, open: Set<ImapFlow>, work: (client: ImapFlow) => Promise<T>): Promise<T> {
  const { host, port, isSecure, user, password, folder, tls } = address
  const { ImapFlow } = await import('imapflow') // most do without it
  const client = new ImapFlow({
    ...{ host, secure: isSecure, tls, ...PATIENCE, auth: { user, pass: password } },
    ...{ logger: false, disableAutoIdle: true, maxLiteralSize: 2 * MAX_BYTES },
    ...(port !== undefined && { port }),
    ...(!isSecure && { doSTARTTLS: true }),
  })
  client.on('error', () => {}) // what is under way is rejected with it
  open.add(client)
  try {
    await client.connect()
    await client.mailboxOpen(folder)
    const result = await work(client)
    await client.logout()
    return result
  } catch (error) {
    throw new Error(describe(error as ImapFlowError, password))
  } finally {
    client.close()
    open.delete(client)
  }
}

/** In the server's words, where there are any. The error itself has the commands in it. */
function describe(
  { message, responseText, response, code, errors }: ImapFlowError & { errors?: Error[] },
  password: string,
): string {
  const said = responseText ?? (typeof response === 'string' ? response : undefined)
  const words = [message || errors?.[0]?.message || code, said && said !== message ? said : undefined].filter(Boolean)
  return withoutAddresses(words.join(': ')).replaceAll(password, '…')
}
