{{/* Names and labels. */}}
{{- define "tollgate.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* At most 53 characters, so that suffixes fit. */}}
{{- define "tollgate.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $full .Values.fullnameOverride | trunc 53 | trimSuffix "-" }}
{{- end }}

{{- define "tollgate.serviceAccountName" -}}
{{- $usual := ternary (include "tollgate.fullname" .) "default" .Values.serviceAccount.create }}
{{- default $usual .Values.serviceAccount.name }}
{{- end }}

{{- define "tollgate.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "tollgate.releaseLabels" . }}
{{- end }}

{{/* The labels of all pods of the release: gateways and the migration's job. */}}
{{- define "tollgate.releaseLabels" -}}
app.kubernetes.io/name: {{ include "tollgate.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tollgate.gatewayLabels" -}}
{{ include "tollgate.releaseLabels" . }}
app.kubernetes.io/component: gateway
{{- end }}

{{- define "tollgate.image" -}}
{{- with .Values.image }}
{{- if .digest }}
{{- printf "%s@%s" .repository .digest }}
{{- else }}
{{- printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "tollgate.generatedSecretName" -}}
{{ include "tollgate.fullname" . }}-secret
{{- end }}

{{- define "tollgate.claimName" -}}
{{- default (printf "%s-data" (include "tollgate.fullname" .)) .Values.persistence.existingClaim }}
{{- end }}

{{/* True with more than one gateway. */}}
{{- define "tollgate.hasReplicas" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) }}true{{ end }}
{{- end }}

{{/*
The gateway ends within server.shutdown_timeout_ms and ten seconds. Ten more are for a slow machine:
Kubernetes kills what still runs then.
*/}}
{{- define "tollgate.graceSeconds" -}}
{{- add (ceil (divf .Values.config.server.shutdown_timeout_ms 1000)) 20 }}
{{- end }}

{{/* tollgate.yaml: `config`, with references to the existing secrets. */}}
{{- define "tollgate.config" -}}
{{- $config := deepCopy .Values.config }}
{{- range list
  (list "metrics" "token" "METRICS_TOKEN")
  (list "smtp" "url" "SMTP_URL")
  (list "stripe" "secret_key" "STRIPE_SECRET_KEY")
  (list "stripe" "webhook_secret" "STRIPE_WEBHOOK_SECRET")
  (list "oidc" "client_secret" "OIDC_CLIENT_SECRET")
}}
{{- if (get $.Values.existingSecrets (index . 0)).name }}
{{- $section := default dict (get $config (index . 0)) }}
{{- $_ := set $section (index . 1) (printf "${%s}" (index . 2)) }}
{{- $_ := set $config (index . 0) $section }}
{{- end }}
{{- end }}
{{- toYaml $config }}
{{- end }}

{{/* The variables of the gateway and of the migration's job. */}}
{{- define "tollgate.env" -}}
{{- $secrets := .Values.existingSecrets -}}
- name: TOLLGATE_CONFIG
  value: /etc/tollgate/tollgate.yaml
- name: TOLLGATE_DATA_DIR
  value: /data
- name: HOST
  value: {{ .Values.config.server.host | quote }}
- name: PORT
  value: {{ .Values.config.server.port | int | quote }}
{{- if eq .Values.database.kind "sqlite" }}
- name: DATABASE_URL
  value: sqlite:/data/tollgate.db
{{- end }}
{{- range list
  (list "DATABASE_URL" $secrets.database.name $secrets.database.key)
  (list "TOLLGATE_SECRET" $secrets.secret.name $secrets.secret.key)
  (list "TOLLGATE_SECRETS_ACCEPTED" $secrets.secret.name $secrets.secret.acceptedKey)
  (list "METRICS_TOKEN" $secrets.metrics.name $secrets.metrics.key)
  (list "SMTP_URL" $secrets.smtp.name $secrets.smtp.key)
  (list "STRIPE_SECRET_KEY" $secrets.stripe.name $secrets.stripe.key)
  (list "STRIPE_WEBHOOK_SECRET" $secrets.stripe.name $secrets.stripe.webhookKey)
  (list "OIDC_CLIENT_SECRET" $secrets.oidc.name $secrets.oidc.key)
}}
{{- if and (index . 1) (index . 2) }}
- name: {{ index . 0 }}
  valueFrom:
    secretKeyRef: { name: {{ index . 1 }}, key: {{ index . 2 }} }
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/*
What the pods of gateways and of the migration's job have in common: what the "restricted" Pod
Security Standard asks for, no access to the Kubernetes API, and where they run.
*/}}
{{- define "tollgate.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  {{- with .Values.podSecurity.user }}
  runAsUser: {{ int . }}
  {{- end }}
  {{- with .Values.podSecurity.group }}
  runAsGroup: {{ int . }}
  fsGroup: {{ int . }}
  {{- end }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What their containers have in common. Only the mounted folders can be written. */}}
{{- define "tollgate.container" -}}
image: {{ include "tollgate.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- with .Values.existingSecrets.environment }}
envFrom:
  {{- range . }}
  - secretRef: { name: {{ . }} }
  {{- end }}
{{- end }}
resources: {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - { name: config, mountPath: /etc/tollgate, readOnly: true }
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
