// Reads the YAML documents that `helm template` prints and writes one line for each problem that the
// Kubernetes API server would find: unknown fields, wrong types, wrong values, and pods that the
// "restricted" Pod Security Standard refuses. Uses the server's own code. Fields are defaulted first,
// as in the server. `file: problem` on standard output; nothing if all is well.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	appsinstall "k8s.io/kubernetes/pkg/apis/apps/install"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	autoscalinginstall "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	autoscalingvalidation "k8s.io/kubernetes/pkg/apis/autoscaling/validation"
	"k8s.io/kubernetes/pkg/apis/batch"
	batchinstall "k8s.io/kubernetes/pkg/apis/batch/install"
	batchvalidation "k8s.io/kubernetes/pkg/apis/batch/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	coreinstall "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/networking"
	networkinginstall "k8s.io/kubernetes/pkg/apis/networking/install"
	networkingvalidation "k8s.io/kubernetes/pkg/apis/networking/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	policyinstall "k8s.io/kubernetes/pkg/apis/policy/install"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"
	podsecurity "k8s.io/pod-security-admission/api"
	podsecuritypolicy "k8s.io/pod-security-admission/policy"
)

var scheme = legacyscheme.Scheme

func main() {
	for _, install := range []func(*runtime.Scheme){
		appsinstall.Install, autoscalinginstall.Install, batchinstall.Install, coreinstall.Install,
		networkinginstall.Install, policyinstall.Install,
	} {
		install(scheme)
	}
	must(monitoring.AddToScheme(scheme))
	decoder := json.NewSerializerWithOptions(
		json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true},
	)
	restricted, err := podsecuritypolicy.NewEvaluator(podsecuritypolicy.DefaultChecks(), nil)
	must(err)
	documents := yaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		must(err)
		object, kind, err := decoder.Decode(document, nil, nil)
		if runtime.IsMissingKind(err) && isEmpty(document) {
			continue
		}
		if err != nil {
			fmt.Println(err)
			continue
		}
		for _, problem := range append(refusals(restricted, object), mistakes(object)...) {
			fmt.Printf("%s: %s\n", kind.Kind, problem)
		}
	}
}

// A document of comments only.
func isEmpty(document []byte) bool {
	var value any
	return yaml.Unmarshal(document, &value) == nil && value == nil
}

// mistakes returns what the API server would answer to a request that creates the object.
func mistakes(object runtime.Object) []string {
	if _, ok := object.(*monitoring.ServiceMonitor); ok {
		return nil
	}
	scheme.Default(object)
	// The server sets the namespace from the request's path.
	if meta, ok := object.(metav1.Object); ok && meta.GetNamespace() == "" {
		meta.SetNamespace("default")
	}
	internal, err := scheme.UnsafeConvertToVersion(object, runtime.InternalGroupVersioner)
	must(err)
	var found []string
	for _, mistake := range validate(internal) {
		found = append(found, mistake.Error())
	}
	return found
}

func validate(object runtime.Object) field.ErrorList {
	switch object := object.(type) {
	case *apps.Deployment:
		return appsvalidation.ValidateDeployment(object, corevalidation.PodValidationOptions{})
	case *batch.Job:
		// The server adds a selector of its own.
		isManual := true
		object.Spec.ManualSelector = &isManual
		object.Spec.Selector = &metav1.LabelSelector{MatchLabels: object.Spec.Template.Labels}
		return batchvalidation.ValidateJobCreate(object, batchvalidation.JobValidationOptions{})
	case *core.ConfigMap:
		return corevalidation.ValidateConfigMap(object)
	case *core.Secret:
		return corevalidation.ValidateSecret(object)
	case *core.Service:
		return corevalidation.ValidateServiceCreate(object)
	case *core.ServiceAccount:
		return corevalidation.ValidateServiceAccount(object)
	case *core.PersistentVolumeClaim:
		return corevalidation.ValidatePersistentVolumeClaim(object, corevalidation.PersistentVolumeClaimSpecValidationOptions{})
	case *autoscaling.HorizontalPodAutoscaler:
		return autoscalingvalidation.ValidateHorizontalPodAutoscaler(object, autoscalingvalidation.HorizontalPodAutoscalerSpecValidationOptions{})
	case *networking.NetworkPolicy:
		return networkingvalidation.ValidateNetworkPolicy(object, networkingvalidation.NetworkPolicyValidationOptions{})
	case *networking.Ingress:
		return networkingvalidation.ValidateIngressCreate(object)
	case *policy.PodDisruptionBudget:
		return policyvalidation.ValidatePodDisruptionBudget(object, policyvalidation.PodDisruptionBudgetValidationOptions{})
	}
	panic(fmt.Sprintf("no validation for %T", object))
}

// refusals returns why a namespace with the "restricted" standard would refuse the object's pods.
func refusals(restricted podsecuritypolicy.Evaluator, object runtime.Object) []string {
	var template *corev1.PodTemplateSpec
	switch object := object.(type) {
	case *appsv1.Deployment:
		template = &object.Spec.Template
	case *batchv1.Job:
		template = &object.Spec.Template
	default:
		return nil
	}
	level := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	var found []string
	for _, result := range restricted.EvaluatePod(level, &template.ObjectMeta, &template.Spec) {
		if !result.Allowed {
			found = append(found, result.ForbiddenReason+": "+result.ForbiddenDetail)
		}
	}
	return found
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
