import type { Context } from '../../../domain/context.ts'
import type { TranscriptionSettings } from '../../../domain/organization/transcription.ts'
import { type Html, html } from '../../../html/html.ts'
import { checkboxes, type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'

export const TRANSCRIPTION_SETTINGS = 'settings/transcripts'

type Facts = { ctx: Context; settings: TranscriptionSettings; done: string }

export function transcriptionPage(form: Form, { ctx, settings, done }: Facts): Page {
  const { service, isOn } = settings
  const address = pathOf(ctx, TRANSCRIPTION_SETTINGS)
  return {
    title: 'Transcripts',
    subtitle: 'Speech recognition turns recorded answers into text.',
    trail: [['Settings', pathOf(ctx, 'settings')]],
    notice: done === 'saved' ? 'The settings are saved.' : undefined,
    body: html`${mistakes(form)}${panel('service', isOn ? 'Transcripts are on' : 'Transcripts are off', service ? switchForm(form, address, { ...settings, service }) : html`<p>The operator of this service has not connected a speech recognition service, so no recording is sent anywhere.</p>`)}`,
  }
}

function switchForm(
  form: Form,
  address: string,
  { service, agreedHost, isOn }: TranscriptionSettings & { service: NonNullable<TranscriptionSettings['service']> },
): Html {
  const hasMoved = agreedHost !== null && !isOn
  return html`${hasMoved && html`<p class="alert alert-soft alert-warning mb-3">You agreed to ${agreedHost}. Recordings would now go to another host, so nothing is sent until you agree again.</p>`}
<ul class="mb-4 list-disc space-y-1 pl-5">
<li>Recorded answers are sent to <strong>${service.host}</strong> (model ${service.model}). The operator of this service chose it; ask them where it is, and how long it keeps recordings.</li>
<li>Only the sound is sent, after the candidate submitted. Photos, webcam and screen recordings are never sent.</li>
<li>Audio and video of your questions are sent only when an author has captions made for them.</li>
<li>Candidates read about their answers before they start. Answers of those who agreed before you switch it on are not sent.</li>
<li>Transcripts may have mistakes. They are marked as made by a machine, and deleted with their recording.</li>
<li>Members read transcripts only with the right to view transcripts, and API keys only with the scope transcripts:read.</li>
</ul>
<form method="post" action="${address}">
${isOn ? html`<input type="hidden" name="off" value="yes"><p class="hint mb-3">Switching off drops recordings that wait. Transcripts that exist are kept.</p><button class="btn">Switch off</button>` : html`${checkboxes(form, { name: 'host', label: 'Agreement', options: [[service.host, `Send recorded answers to ${service.host}`]] })}<button class="btn btn-primary">Switch on</button>`}
</form>`
}
