// A receiver of OTLP made of the OpenTelemetry collector's own parts: its receiver for HTTP, and its
// marshaller, which writes each export as a line of JSON. Prints its address first.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configgrpc"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

var lines sync.Mutex

func print(signal string, body []byte, err error) error {
	if err != nil {
		return err
	}
	lines.Lock()
	defer lines.Unlock()
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprintf(out, "%s %s\n", signal, body)
	return out.Flush()
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func freeAddress() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	defer listener.Close()
	return listener.Addr().String()
}

func main() {
	ctx := context.Background()
	traces, err := consumer.NewTraces(func(_ context.Context, data ptrace.Traces) error {
		body, err := (&ptrace.JSONMarshaler{}).MarshalTraces(data)
		return print("traces", body, err)
	})
	check(err)
	metrics, err := consumer.NewMetrics(func(_ context.Context, data pmetric.Metrics) error {
		body, err := (&pmetric.JSONMarshaler{}).MarshalMetrics(data)
		return print("metrics", body, err)
	})
	check(err)

	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig().(*otlpreceiver.Config)
	address := freeAddress()
	http := config.Protocols.HTTP.GetOrInsertDefault()
	http.ServerConfig.NetAddr.Endpoint = address
	config.Protocols.GRPC = configoptional.None[configgrpc.ServerConfig]()

	settings := receivertest.NewNopSettings(factory.Type())
	host := componenttest.NewNopHost()
	var parts []component.Component
	tracesReceiver, err := factory.CreateTraces(ctx, settings, config, traces)
	check(err)
	metricsReceiver, err := factory.CreateMetrics(ctx, settings, config, metrics)
	check(err)
	parts = append(parts, tracesReceiver, metricsReceiver)
	for _, part := range parts {
		check(part.Start(ctx, host))
	}
	fmt.Printf("listening http://%s\n", address)
	// It ends with its parent, which closes the input.
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, part := range parts {
		check(part.Shutdown(ctx))
	}
}
